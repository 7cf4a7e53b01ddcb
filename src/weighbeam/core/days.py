"""Days of the calendar as numbers, without a clock."""

import re

DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")
DAY_SECONDS = 86_400


def number_day(text: str) -> int | None:
    """Days from 1970-01-01 to a day written YYYY-MM-DD; None for anything else.

    >>> number_day("1970-01-01"), number_day("2026-11-16"), number_day("2026-13-01")
    (0, 20773, None)
    """
    read = DAY.fullmatch(text[:10])
    if read is None:
        return None
    year, month, day = (int(part) for part in read.groups())
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468
