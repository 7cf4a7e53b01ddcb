"""Times in addresses: moments in UTC, and ranges that count back from now. Pure."""

import re
from calendar import timegm
from datetime import date

from weighbeam.core.errors import WeighbeamError

HOUR, DAY = 3600.0, 86400.0
RANGES = {"1h": HOUR, "6h": 6 * HOUR, "24h": DAY, "7d": 7 * DAY, "30d": 30 * DAY}
WRITTEN = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d{1,6})?)?)?Z?", re.ASCII)
SECONDS = re.compile(r"\d{1,11}(?:\.\d{1,6})?", re.ASCII)


def parse_moment(text: str | None) -> float | None:
    """Seconds since 1970; `bad_query` if it is not a time.

    >>> parse_moment("2026-01-01"), parse_moment("2026-01-01T00:01Z"), parse_moment("1767225600.5")
    (1767225600.0, 1767225660.0, 1767225600.5)
    """
    if not text:
        return None
    if SECONDS.fullmatch(text):
        return float(text)
    found = WRITTEN.fullmatch(text)
    parts = [int(part or 0) for part in found.groups()] if found else []
    if not parts or not _is_moment(parts):
        told = f"{text[:40]!r} is not a time"
        raise WeighbeamError("bad_query", told, "write it as 2027-01-31 or 2027-01-31T09:30, in UTC")
    return float(timegm((parts[0], parts[1], parts[2], parts[3], parts[4], parts[5])))


def _is_moment(parts: list[int]) -> bool:
    try:
        date(*parts[:3])
    except ValueError:
        return False
    return parts[0] >= 1970 and parts[3] < 24 and parts[4] < 60 and parts[5] < 60
