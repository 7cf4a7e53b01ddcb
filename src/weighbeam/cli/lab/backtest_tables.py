"""Backtest results on a terminal: the verdict, then gains and losses, then the reasons."""

import typer

from weighbeam.cli.common.shell import make_printable
from weighbeam.cli.journal.reports import print_table
from weighbeam.core.names import shorten
from weighbeam.core.numbers import format_short
from weighbeam.engine.views.names import NameBook
from weighbeam.lab.backtest.compare import MechanismComparison
from weighbeam.lab.backtest.rounds import ChangedAnswer, measure
from weighbeam.lab.backtest.run import Backtest
from weighbeam.lab.backtest.verdict import describe_verdict, format_time, list_findings
from weighbeam.lab.backtest.weigh_ins import WeightVectors


def show_backtest(found: Backtest, limit: int, book: NameBook) -> None:
    comparison = found.comparison
    equal = [one.mechanism for one in comparison.mechanisms.values() if one.is_equal]
    for one in comparison.mechanisms.values():
        if not one.is_equal:
            _show_mechanism(one, limit, book)
    if equal:
        typer.echo(f"{', '.join(equal)}: nothing changes, every score, standing and decision is the same to the bit")
    typer.echo("")
    _show_ground(found)
    for note in found.notes:
        typer.echo(f"note: {make_printable(note, 300)}")
    for fault in comparison.faults[:limit]:
        typer.echo(f"the journal differs: {make_printable(fault, 200)}")


def _show_ground(found: Backtest) -> None:
    """Both sides of the comparison."""
    comparison = found.comparison
    mechanisms = comparison.mechanisms.values()
    rounds, weighed = sum(one.rounds.rounds for one in mechanisms), sum(one.weigh_ins.weigh_ins for one in mechanisms)
    span = (
        "" if comparison.first is None else f", {format_time(comparison.first)} to {format_time(comparison.last or 0)}"
    )
    state = "DIFFERS from the journal" if comparison.faults else "equals the journal to the bit"
    typer.echo(f"compared: {rounds} rounds and {weighed} weigh-ins{span}; the recomputed present {state}")
    other = "" if found.version is None else f", by weighbeam {found.version}"
    typer.echo(f"changed: {make_printable('; '.join(found.changes) or 'no parameter', 400)}{other}")


def _show_mechanism(one: MechanismComparison, limit: int, book: NameBook) -> None:
    typer.echo(f"{one.mechanism}: {describe_verdict(one)}")
    for line in list_findings(one):
        typer.echo(f"  {make_printable(line, 200)}")
    _show_miners(one, limit, book)
    _show_shape(one)
    _show_rounds(one, limit, book)


def _show_miners(one: MechanismComparison, limit: int, book: NameBook) -> None:
    """The largest gains and the largest losses."""
    miners = [miner for miner in one.list_miners() if miner.gain or miner.place_before != miner.place_after]
    if not miners:
        return
    half = max(1, limit // 2)
    shown = miners if len(miners) <= limit else [*miners[:half], *miners[-(limit - half) :]]
    rows = [
        [
            miner.uid,
            _name(book, miner.hotkey, one.mechanism),
            f"{miner.before:.2%}",
            f"{miner.after:.2%}",
            f"{100 * miner.gain:+.2f}",
            f"{miner.place_before} → {miner.place_after}",
            f"{miner.last_before:.2%} → {miner.last_after:.2%}",
        ]
        for miner in shown
    ]
    print_table(("uid", "miner", "before", "after", "points", "place", "last weights"), rows)
    if len(shown) < len(miners):
        typer.echo(f"  and {len(miners) - len(shown)} more (--limit)")


def _show_shape(one: MechanismComparison) -> None:
    """How alike the orders are, how unequally it is shared, how much it moves."""
    pairs = one.correlate()
    ranks = [
        f"{name} tau-b {_number(found['kendall_tau_b'])}, rho {_number(found['spearman'])}"
        for name, found in pairs.items()
    ]
    typer.echo(f"  rank correlation: {'; '.join(ranks)}")
    shapes = one.concentrate()
    old, new = shapes["before"], shapes["after"]
    typer.echo(
        f"  concentration: Gini {old['gini']:.3f} → {new['gini']:.3f}, top 1 {old['top1']:.1%} → {new['top1']:.1%}, "
        f"top 3 {old['top3']:.1%} → {new['top3']:.1%}, effective miners {old['effective_number']:.1f} → "
        f"{new['effective_number']:.1f}"
    )
    before, after = _turnover(one.weigh_ins.before), _turnover(one.weigh_ins.after)
    typer.echo(f"  turnover from one weigh-in to the next: {before} → {after}")


def _show_rounds(one: MechanismComparison, limit: int, book: NameBook) -> None:
    largest = one.rounds.list_largest()[: max(1, limit // 2)]
    if largest:
        typer.echo("  rounds that explain it:")
    for ref, _, moved in largest:
        shown = "; ".join(_format_moved(move, _name(book, move.hotkey, one.mechanism)) for move in moved[:2])
        rest = f"; and {len(moved) - 2} more" if len(moved) > 2 else ""
        typer.echo(f"    {make_printable(ref, 60)}: {make_printable(shown, 200)}{rest}")


def _name(book: NameBook, hotkey: str, mechanism: str) -> str:
    return book.name(hotkey, mechanism) or shorten(hotkey)


def _format_moved(moved: ChangedAnswer, name: str) -> str:
    """
    >>> from weighbeam.lab.backtest.outcome import AnswerOutcome
    >>> one = AnswerOutcome("5Fabc", "valid", 60.0, 1.5, ())
    >>> other = AnswerOutcome("5Fabc", "failed", 0.0, 0.0, ("thin",))
    >>> _format_moved(ChangedAnswer("r", 0.0, "5Fabc", one, other, -1.5), "ada")
    'ada 1.5 → 0 (valid → failed: thin)'
    """
    before, after = moved.before, moved.after
    status = before.status if before.status == after.status else f"{before.status} → {after.status}"
    reasons = f": {', '.join(after.reasons)}" if after.reasons else ""
    pays = f"{_number(measure(before))} → {_number(measure(after))}"
    return f"{name} {pays} ({status}{reasons})"


def _turnover(vectors: WeightVectors) -> str:
    return "–" if vectors.turnover is None else f"{vectors.turnover:.1%}"


def _number(value: float | None) -> str:
    return format_short(value, ".4g")
