"""What was tried and caught."""

from collections.abc import Sequence
from typing import Any

from weighbeam.engine.views.attacks import MAX_ROWS, AttackSummary, Suspect, select_attacks
from weighbeam.service.http.redaction import redact_attacks
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render

HOURS = 24
MAX_ATTACKS = 20


def show_attacks(data: PageData) -> str:
    now = data.now()
    seen = redact_attacks(select_attacks(data.store, now, HOURS))
    return render(
        "attacks.html",
        data.frame(),
        "/attacks",
        now,
        title="Attacks seen",
        hours=HOURS,
        figures=list_figures(seen),
        suspects=[_format_suspect(one) for one in seen.suspects],
        copies=seen.copies[:MAX_ATTACKS],
        alerts=seen.alerts[:MAX_ATTACKS],
    )


def count(found: Sequence[Any]) -> str:
    """No more than so many are read.

    >>> count([1]), count([1] * 200)
    ('1', '200+')
    """
    return f"{len(found)}+" if len(found) >= MAX_ROWS else str(len(found))


def list_figures(seen: AttackSummary) -> list[tuple[str, Any, str]]:
    return [
        ("groups of copies", count(seen.copies), ""),
        ("garbage alerts", count(seen.alerts), ""),
        ("miners caught", len({one.hotkey for one in seen.suspects}), ""),
        ("contributions refused", seen.duplicates, "copies of what was there"),
        ("contributions held", seen.held, "that read as implausible"),
    ]


def _format_suspect(one: Suspect) -> dict[str, Any]:
    """The most frequent first."""
    counts = sorted(one.counts.items(), key=lambda item: (-item[1], item[0]))
    return {
        "hotkey": one.hotkey,
        "mechanism": one.mechanism,
        "rounds": one.rounds,
        "counts": counts,
    }
