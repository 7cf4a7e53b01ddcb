"""Runs: whether one sequence of forms occurs in another without a gap."""

from collections.abc import Sequence

BETWEEN = "\n"


def is_run(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether `short` is a run in `long`; no forms at all are a run in nothing.

    >>> is_run(["b", "c"], ["a", "b", "c"]), is_run(["a", "c"], ["a", "b", "c"]), is_run([], ["a"])
    (True, False, False)
    """
    return 0 < len(short) <= len(long) and _join(short) in _join(long)


def find_runs(short: Sequence[str], long: Sequence[str]) -> list[int]:
    """Where in `long` the runs of `short` begin.

    >>> find_runs(["a", "a"], ["a", "a", "a", "b"])
    [0, 1]
    """
    size = len(short)
    if not is_run(short, long):
        return []
    return [i for i in range(len(long) - size + 1) if long[i] == short[0] and long[i : i + size] == short]


def _join(forms: Sequence[str]) -> str:
    """No form holds a line feed, so that a text search in C does the work."""
    return BETWEEN + BETWEEN.join(forms) + BETWEEN
