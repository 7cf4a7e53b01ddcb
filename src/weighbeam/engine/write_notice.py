"""A notice in words, for a chat or a mailbox. Pure; whatever a stranger may have put into a text does nothing there."""

import time
from collections.abc import Mapping
from typing import Any

from weighbeam.engine.alerts import find_remedy

MOST = 1500
HARMLESS = str.maketrans({"@": "＠", "<": "‹", ">": "›", "[": "(", "]": ")", "`": "'", "#": "＃"})
"""No mention, no channel, no tag and no link is left of a text."""


def write_notice(body: Mapping[str, Any], place: str) -> tuple[str, str]:
    """Title and text; the alert's own words stand first, as they are.

    >>> title, text = write_notice({"what": "raised", "code": "clock_skew", "level": "warning", "text": "3 are later",
    ...     "opened": 0.0, "at": 0.0, "times": 1}, "validator 5F…, chunking on subnet 7")
    >>> print(title, text, sep="\\n")
    warning: clock_skew
    3 are later
    remedy: set this machine's clock (NTP)
    validator 5F…, chunking on subnet 7
    since 1970-01-01 00:00:00 UTC
    """
    code, text = str(body["code"]), neutralise(str(body["text"]))
    since, at = _write_time(body["opened"]), _write_time(body["at"])
    if body["what"] == "over":
        return f"over: {code}", f"{text}\n{place}\nfrom {since} to {at}, raised {_say_times(body['times'])}"
    again = f", raised {_say_times(body['times'])} since it was told last" if body["what"] == "again" else ""
    told = f"{text}\nremedy: {find_remedy(code)}\n{place}\nsince {since}{again}"
    return f"{body['level']}: {code}", told


def neutralise(text: str, most: int = MOST) -> str:
    """
    >>> neutralise("@everyone [free](https://evil.example/x) <!here> a\\nb")
    '＠everyone (free)(https: //evil.example/x) ‹!here› a b'
    """
    shown = "".join(c if c.isprintable() else " " for c in text.translate(HARMLESS).replace("://", ": //"))
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def _say_times(times: int) -> str:
    return "once" if times == 1 else f"{times} times"


def _write_time(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(seconds))
