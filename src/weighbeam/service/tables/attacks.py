"""Tables of what was caught: suspects, and groups of copies."""

from collections.abc import Mapping

from weighbeam.engine.views.attacks import HOUR, MAX_ROWS, AttackSummary, Suspect, name_attackers, select_attacks
from weighbeam.service.tables.model import Column, FoundRows, Table, TableSource
from weighbeam.service.tables.shown import find_hotkeys
from weighbeam.service.tables.times import DAY, RANGES


def read_attacks(source: TableSource, filters: Mapping[str, str]) -> AttackSummary:
    """Of the last day unless a range is chosen."""
    seen = select_attacks(source.store, source.now, RANGES.get(filters.get("range", ""), DAY) / HOUR)
    return name_attackers(seen, source.book)


def select_suspects(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    rows = [one for one in read_attacks(source, filters).suspects if _is_wanted(filters, one.mechanism)]
    known = find_hotkeys(source, filters.get("miner"))
    rows = [one for one in rows if _names(filters, known, (one.hotkey,))]
    return FoundRows(rows[:limit], len(rows) >= MAX_ROWS)


def select_copies(source: TableSource, filters: Mapping[str, str], limit: int) -> FoundRows:
    rows = [one for one in read_attacks(source, filters).copies if _is_wanted(filters, one.mechanism)]
    known = find_hotkeys(source, filters.get("miner"))
    rows = [one for one in rows if _names(filters, known, one.hotkeys)]
    return FoundRows(rows[:limit], len(rows) >= MAX_ROWS)


def _is_wanted(filters: Mapping[str, str], mechanism: str) -> bool:
    return filters.get("mechanism") in (None, mechanism)


def _names(filters: Mapping[str, str], known: tuple[str, ...], hotkeys: tuple[str, ...]) -> bool:
    wanted = filters.get("miner")
    if wanted is None or any(one in known for one in hotkeys):
        return True
    return not wanted.isdigit() and any(wanted.casefold() in one.casefold() for one in hotkeys)


def list_counts(suspect: Suspect) -> list[tuple[str, int]]:
    """The most frequent first."""
    return sorted(suspect.counts.items(), key=lambda item: (-item[1], item[0]))


SUSPECTS = Table(
    name="suspects",
    about="Miners whose answers had reasons that point to an attack, most rounds first.",
    columns=(
        Column("hotkey", "text", lambda one: one.hotkey, "the miner", rises=True),
        Column("name", "text", lambda one: one.name, "what it is called here", rises=True),
        Column("mechanism", "text", lambda one: one.mechanism, "where it was caught", rises=True),
        Column("rounds", "integer", lambda one: one.rounds, "in so many rounds"),
        Column("reasons", "list", lambda one: tuple(f"{c}:{n}" for c, n in list_counts(one)), "reason:rounds", True),
    ),
    select=select_suspects,
    order="-rounds",
    filters=("mechanism", "miner", "reason", "range"),
    matches={"reason": lambda one: tuple(one.counts)},
)
COPIES = Table(
    name="copies",
    about="Groups of miners that gave the same answer, newest first.",
    columns=(
        Column("round", "text", lambda one: one.round, "the round", rises=True),
        Column("mechanism", "text", lambda one: one.mechanism, "its mechanism", rises=True),
        Column("at", "time", lambda one: one.at, "when it was"),
        Column("miners", "integer", lambda one: len(one.hotkeys), "in the group"),
        Column("cosine", "real", lambda one: one.cosine, "the least of any two"),
        Column("overlap", "real", lambda one: one.overlap, "the least of any two"),
        Column("hotkeys", "list", lambda one: one.hotkeys, "of the group", rises=True),
        Column("names", "list", lambda one: tuple(name or "" for name in one.names), "of the hotkeys", rises=True),
    ),
    select=select_copies,
    order="-at",
    filters=("mechanism", "miner", "range"),
)
