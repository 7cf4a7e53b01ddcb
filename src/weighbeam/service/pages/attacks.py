"""What was tried and caught."""

from collections.abc import Sequence
from typing import Any

from weighbeam.engine.insight.attacks import MOST_ROWS, Attacks, Suspect, read_attacks
from weighbeam.service.hide_places import hide_in_attacks
from weighbeam.service.pages.render import render
from weighbeam.service.pages.shelf import Shelf

HOURS = 24
MOST = 20


def show_attacks(shelf: Shelf) -> str:
    now = shelf.now()
    seen = hide_in_attacks(read_attacks(shelf.store, now, HOURS))
    return render(
        "attacks.html",
        shelf.frame(),
        "/attacks",
        now,
        title="Attacks seen",
        hours=HOURS,
        figures=list_figures(seen),
        suspects=[_write_suspect(one) for one in seen.suspects],
        copies=seen.copies[:MOST],
        alerts=seen.alerts[:MOST],
    )


def count(found: Sequence[Any]) -> str:
    """No more than so many are read.

    >>> count([1]), count([1] * 200)
    ('1', '200+')
    """
    return f"{len(found)}+" if len(found) >= MOST_ROWS else str(len(found))


def list_figures(seen: Attacks) -> list[tuple[str, Any, str]]:
    return [
        ("groups of copies", count(seen.copies), ""),
        ("garbage alerts", count(seen.alerts), ""),
        ("miners caught", len({one.hotkey for one in seen.suspects}), ""),
        ("contributions refused", seen.duplicates, "copies of what was there"),
        ("contributions held", seen.held, "that read as implausible"),
    ]


def _write_suspect(one: Suspect) -> dict[str, Any]:
    """The most frequent first."""
    counts = sorted(one.counts.items(), key=lambda item: (-item[1], item[0]))
    return {
        "hotkey": one.hotkey,
        "mechanism": one.mechanism,
        "rounds": one.rounds,
        "counts": counts,
    }
