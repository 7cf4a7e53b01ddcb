"""Attacks that were tried and caught."""

from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.engine.views.attacks import MAX_ROWS, AttackSummary, Suspect
from weighbeam.service.http.redaction import redact_attacks
from weighbeam.service.pages.page_data import PageData
from weighbeam.service.pages.rendering import render
from weighbeam.service.tables.attacks import COPIES, SUSPECTS, list_counts, read_attacks
from weighbeam.service.tables.view import SPANS, list_names, view_table

MAX_ATTACKS = 20


NAMES = list_names(SUSPECTS, COPIES)


def show_attacks(data: PageData, query: Mapping[str, str] | None = None) -> str:
    asked, source, now = dict(query or {}), data.tables, data.now()
    caught = view_table(SUSPECTS, source, "/attacks", asked)
    copies = view_table(COPIES, source, "/attacks", asked, second=True)
    seen = redact_attacks(read_attacks(source, asked))
    return render(
        "attacks.html",
        data.frame(),
        "/attacks",
        now,
        title="Attacks seen",
        span=SPANS.get(asked.get("range", ""), SPANS["24h"]),
        figures=list_figures(seen),
        caught=caught,
        suspects=[_format_suspect(one) for one in caught.rows],
        copies=copies,
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
    return {
        "hotkey": one.hotkey,
        "mechanism": one.mechanism,
        "rounds": one.rounds,
        "counts": list_counts(one),
    }
