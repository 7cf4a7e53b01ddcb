"""Redact paths and addresses from error messages sent over HTTP."""

import re
from dataclasses import replace

from weighbeam.engine.alerts.alerts import Alert
from weighbeam.engine.views.alert_lines import AlertLine
from weighbeam.engine.views.attacks import AttackSummary
from weighbeam.engine.views.overview import Overview
from weighbeam.engine.views.weights import SubmissionLine

URL = re.compile(r"\b([a-z][a-z0-9+.-]*)://[^\s'\"]+", re.ASCII | re.IGNORECASE)
PATH = re.compile(r"(?<![\w.…<])~?/(?:[\w.@%+=:,~-]+/)+")


def redact_places(text: str) -> str:
    """Of a path the file's name is left, of a URL what it begins with.

    >>> redact_places("/home/ada/tasks holds 3 documents")
    '…/tasks holds 3 documents'
    >>> redact_places("callback of r1: https://u:p@10.0.0.7/hook refused and/or late")
    'callback of r1: https://… refused and/or late'
    >>> redact_places("</b></i></u> of /srv/é-1/a.txt")
    '</b></i></u> of …/a.txt'
    """
    return PATH.sub("…/", URL.sub(r"\1://…", text))


def redact_alert(line: AlertLine) -> AlertLine:
    return replace(line, text=redact_places(line.text))


def redact_overview(seen: Overview) -> Overview:
    return replace(seen, notices=tuple(replace(one, text=redact_places(one.text)) for one in seen.notices))


def redact_attacks(seen: AttackSummary) -> AttackSummary:
    told: tuple[Alert, ...] = tuple(replace(one, text=redact_places(one.text)) for one in seen.alerts)
    return replace(seen, alerts=told)


def redact_submission(line: SubmissionLine) -> SubmissionLine:
    """Redact faults of the chain and of the connection to it."""
    said = line.message
    return line if not said else replace(line, plan={**line.plan, "message": redact_places(str(said))})
