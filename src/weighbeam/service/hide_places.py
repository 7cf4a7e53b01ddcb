"""What went wrong, without where on this machine or in its network: that is for the log and the shell. Pure."""

import re
from dataclasses import replace

from weighbeam.engine.alerts import Alert
from weighbeam.engine.insight.attacks import Attacks
from weighbeam.engine.insight.overview import Overview
from weighbeam.engine.reading.alerts import AlertLine
from weighbeam.engine.reading.submissions import SubmissionLine

URL = re.compile(r"\b([a-z][a-z0-9+.-]*)://[^\s'\"]+", re.ASCII | re.IGNORECASE)
PATH = re.compile(r"(?<![\w.…<])~?/(?:[\w.@%+=:,~-]+/)+")


def hide_places(text: str) -> str:
    """Of a path the file's name is left, of a URL what it begins with.

    >>> hide_places("/home/ada/tasks holds 3 documents")
    '…/tasks holds 3 documents'
    >>> hide_places("callback of r1: https://u:p@10.0.0.7/hook refused and/or late")
    'callback of r1: https://… refused and/or late'
    >>> hide_places("</b></i></u> of /srv/é-1/a.txt")
    '</b></i></u> of …/a.txt'
    """
    return PATH.sub("…/", URL.sub(r"\1://…", text))


def hide_in_line(line: AlertLine) -> AlertLine:
    return replace(line, text=hide_places(line.text))


def hide_in_overview(seen: Overview) -> Overview:
    return replace(seen, notices=tuple(replace(one, text=hide_places(one.text)) for one in seen.notices))


def hide_in_attacks(seen: Attacks) -> Attacks:
    told: tuple[Alert, ...] = tuple(replace(one, text=hide_places(one.text)) for one in seen.alerts)
    return replace(seen, alerts=told)


def hide_in_submission(line: SubmissionLine) -> SubmissionLine:
    """What the chain, or the way to it, said."""
    said = line.message
    return line if not said else replace(line, plan={**line.plan, "message": hide_places(str(said))})
