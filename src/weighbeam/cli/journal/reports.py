"""`weighbeam journal rounds`, `round`, `leaderboard`, `duplicates` and `miner-report`: what a journal holds."""

import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.options import (
    AsJson,
    ConfigOption,
    Explain,
    MechanismOption,
    Only,
    StoreOption,
    choose_mechanism,
    complete_mechanism,
    format_headline,
    open_names,
    open_read,
    open_settings,
)
from weighbeam.cli.common.shell import make_printable, print_json
from weighbeam.core.names import shorten
from weighbeam.core.numbers import format_short

if TYPE_CHECKING:
    from weighbeam.engine.rules.constants import Averaging
    from weighbeam.engine.scoring import ScoreResult
    from weighbeam.engine.views.miner import MinerView
    from weighbeam.engine.views.names import NameBook
    from weighbeam.mechanism.base import Mechanism
    from weighbeam.store.database import Store

SHOWN_ROUNDS = 20
PIPED_WIDTH = 200
WHOLE = 100_000
"""From here on, numbers are units and shown to the last."""


def rounds(
    store: StoreOption = None,
    config: ConfigOption = None,
    mechanism: Annotated[
        str | None, typer.Option(help="Only those of this mechanism.", autocompletion=complete_mechanism)
    ] = None,
    miner: Annotated[str | None, typer.Option(help="Only those that judged this miner: name, uid or hotkey.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the newest rounds of a journal."""
    from weighbeam.engine.views.rounds import list_rounds

    journal = open_read(store, config)
    hotkey = None if miner is None else open_names(journal, store, config).resolve(miner, mechanism)
    lines = list(list_rounds(journal, mechanism, hotkey=hotkey, limit=limit).items)
    rows = [[line.id, line.mechanism, line.outcome, line.block, f"{line.valid} of {line.answers}"] for line in lines]
    show_lines(("round", "mechanism", "state", "block", "valid"), rows, lines, "rounds", as_json)


def leaderboard(
    store: StoreOption = None,
    config: ConfigOption = None,
    mechanism: MechanismOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the standings of a journal, best first.

    With each: how sure it is (± one standard error), what it is paid, and how the rounds of the last 24 hours went.
    """
    from weighbeam.engine.views.leaderboard import select_leaderboard
    from weighbeam.engine.views.rounds import list_mechanisms
    from weighbeam.mechanism.registry import load_mechanism

    journal = open_read(store, config)
    there = list_mechanisms(journal)
    found = load_mechanism(choose_mechanism(mechanism, there))
    book = open_names(journal, store, config)
    lines = list(book.name_all(select_leaderboard(journal, found, _find_averaging(store, config)), found.name))
    if not as_json:
        told = f"{found.better} standings are better"
        typer.echo(format_headline(found.name, there, f"{told}, in tokens" if found.page.token_units else told))
    units = count_units(journal, found)
    rows = [
        [
            "–" if line.standing is None else line.place,
            line.name or "",
            "" if line.uid is None else line.uid,
            shorten(line.hotkey),
            show_spread(line.standing, line.spread, units),
            show_share(line.share),
            f"{line.valid} of {line.rounds}",
            line.last_reason,
        ]
        for line in lines
    ]
    show_lines(
        ("#", "miner", "uid", "hotkey", "standing", "share", "valid", "last reason"),
        rows,
        lines,
        "standings",
        as_json,
        mechanism=found.name,
    )


def duplicates(
    store: StoreOption = None,
    config: ConfigOption = None,
    hotkey: Annotated[str | None, typer.Option(help="Only those of this miner: its name, uid or hotkey.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="At most this many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List duplicate answers, newest first.

    Retention never removes these records.
    """
    from weighbeam.engine.views.copies import select_copies

    journal = open_read(store, config)
    book = open_names(journal, store, config)
    found = select_copies(journal, limit, None if hotkey is None else book.resolve(hotkey))
    if as_json:
        named = [replace(line, names=book.name_each(line.hotkeys, line.mechanism)) for line in found]
        print_json({"copies": [asdict(line) for line in named]})
        return
    for line in found:
        at = time.strftime("%m-%d %H:%M:%SZ", time.gmtime(line.at))
        typer.echo(f"{at} {line.round}: cosine ≥ {line.cosine:.3f}, overlap ≥ {line.overlap:.3f}")
        for key in line.hotkeys:
            typer.echo(f"    {make_printable(book.describe(key, line.mechanism), 120)}")
    if not found:
        typer.echo("no copies")


def miner_report(
    miner: Annotated[str, typer.Argument(metavar="MINER", help="Its name, uid or hotkey, or how the hotkey begins.")],
    store: StoreOption = None,
    config: ConfigOption = None,
    mechanism: MechanismOption = None,
    as_json: AsJson = False,
) -> None:
    """Show how a miner did and what it can improve.

    Its standing, its scores, newest first, what its failures mean, and advice.
    """
    from weighbeam.engine.views.miner import select_miner
    from weighbeam.engine.views.rounds import list_mechanisms
    from weighbeam.mechanism.registry import load_mechanism

    journal = open_read(store, config)
    there = list_mechanisms(journal)
    found = load_mechanism(choose_mechanism(mechanism, there))
    book = open_names(journal, store, config)
    hotkey = book.resolve(miner, found.name)
    view = book.name_line(select_miner(journal, found, hotkey, _find_averaging(store, config)), found.name)
    if as_json:
        print_json(_list_report(found.name, view))
        return
    typer.echo(format_headline(found.name, there))
    typer.echo(make_printable(book.describe(hotkey, found.name), 120))
    units, tokens = count_units(journal, found), " tokens" if found.page.token_units else ""
    place = "not ranked" if view.place is None else f"place {view.place} of {view.of}"
    share = "" if view.share is None else f", {show_share(view.share)} of the last weights"
    typer.echo(f"{place}, standing {show_spread(view.standing, view.spread, units)}{tokens}{share}")
    shown = view.points[:SHOWN_ROUNDS]
    if len(shown) < len(view.points):
        typer.echo(f"the newest {len(shown)} of {len(view.points)} rounds; --json has all")
    rows = [[p.round, p.block, p.status, show_number(p.value, units), ", ".join(p.reasons)] for p in shown]
    print_table(("round", "block", "status", "score", "reasons"), rows)
    if view.reasons:
        typer.echo("Meaning of the reasons:")
    for reason in view.reasons:
        typer.echo(f"  {make_printable(reason.code, 60)} ({reason.count}): {make_printable(reason.meaning, 300)}")
    if view.advice:
        typer.echo("To improve:")
    for number, advice in enumerate(view.advice, 1):
        typer.echo(f"  {number}. {make_printable(advice.title, 100)}. {make_printable(advice.text, 600)}")


def count_units(journal: "Store", mechanism: "Mechanism") -> int:
    """Units of a token by the newest round; 1 where standings are not tokens."""
    from weighbeam.engine.views.trends import select_params

    if not mechanism.page.token_units:
        return 1
    with journal.read() as connection:
        return mechanism.page.count_units(select_params(connection, mechanism))


def _list_report(mechanism: str, miner: "MinerView") -> dict[str, Any]:
    """The scores as they always were, and all else that is known."""
    report = {"mechanism": mechanism, **asdict(miner)}
    report["scores"] = [{**point, "reasons": ", ".join(point["reasons"])} for point in report.pop("points")]
    return report


def _find_averaging(store: str | None, config: Path | None) -> "Averaging":
    from weighbeam.engine.rules.constants import Averaging

    return Averaging() if store is not None else open_settings(config).averaging()


def show_lines(
    heads: tuple[str, ...], rows: list[list[Any]], lines: list[Any], name: str, as_json: bool, **besides: str
) -> None:
    if as_json:
        print_json({**besides, name: [asdict(line) for line in lines]})
    elif rows:
        print_table(heads, rows)
    else:
        typer.echo(f"no {name} here yet")


def print_table(heads: tuple[str, ...], rows: list[list[Any]]) -> None:
    """No name is cut, for the next command may need it; a program that reads along has each row on one line."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Column, Table
    from rich.text import Text

    columns = [Column(head, overflow="fold") for head in heads]
    table = Table(*columns, box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for row in rows:
        table.add_row(*(Text(make_printable(str(cell), 60)) for cell in row))
    console = Console()
    (console if console.is_terminal else Console(width=max(console.width, PIPED_WIDTH))).print(table)


def show_number(value: float | None, units: int = 1) -> str:
    """A number; of units, the tokens that they are.

    >>> show_number(0.1519941), show_number(221_410_306.0), show_number(None)
    ('0.151994', '221,410,306', '–')
    >>> show_number(-1.2412e87), show_number(500_000_000_000.0, 1_000_000_000)
    ('-1.24e+87', '500')
    """
    value = None if value is None else value / units
    return format_short(value, ",.0f" if value is not None and abs(value) >= WHOLE else ".6g")


def show_spread(value: float | None, spread: float | None, units: int = 1) -> str:
    """A standing and one standard error of it; of units, in tokens.

    >>> show_spread(3.25, 0.123), show_spread(3.25, None), show_spread(None, None)
    ('3.25 ± 0.12', '3.25', '–')
    """
    if value is None or spread is None:
        return show_number(value, units)
    return f"{value / units:.4g} ± {spread / units:.2g}"


def show_share(share: float | None) -> str:
    return "–" if share is None else f"{share:.1%}"


if TYPE_CHECKING:
    from weighbeam.engine.rounds.narrative import RoundExtra


def show_round(
    round_id: Annotated[str, typer.Argument(metavar="ROUND", help="As weighbeam journal rounds names it.")],
    store: StoreOption = None,
    config: ConfigOption = None,
    explain: Explain = False,
    only: Only = None,
    as_json: AsJson = False,
) -> None:
    """Show the scores of one round.

    With its heatmap and narrative if it has them.
    """
    from weighbeam.cli.score.commands import load_score_command
    from weighbeam.cli.score.tables import check_hotkeys, show_trees
    from weighbeam.engine.journal.recall import recall_round
    from weighbeam.engine.rounds.narrative import select_extras
    from weighbeam.mechanism.released import describe_version, name_version

    opened = open_read(store, config)
    result, extras = recall_round(opened, round_id), select_extras(opened, round_id)
    book = open_names(opened, store, config)
    chosen = [book.resolve(one, result.mechanism.name) for one in only or []]
    check_hotkeys(result, chosen)
    name, params = result.mechanism.name, result.params.model_dump(mode="json")
    if as_json:
        told = {kind: {"value": one.value, "maker": one.maker, "fault": one.fault} for kind, one in extras.items()}
        known = name_version(name, params)
        version = None if known is None else {"defaults_of": known[0], "but": known[1]}
        replies = {
            one.hotkey: {
                "status": one.status,
                "reason": one.reason,
                "name": book.name(one.hotkey, name),
                "uid": one.uid,
            }
            for one in result.answers
        }
        print_json(
            {"round": round_id, **result.report(), "replies": replies, "params_version": version, "extras": told}
        )
        return
    load_score_command(name).show(result, {}, hint=not explain and not only)
    show_who(result, book)
    for one in result.answers:
        if one.status != "ok":
            why = f" ({make_printable(one.reason, 60)})" if one.reason else ""
            typer.echo(f"no answer from {make_printable(book.describe(one.hotkey, name), 120)}: {one.status}{why}")
    typer.echo(f"parameters: {describe_version(name, params)}")
    show_extras(extras)
    if explain or only:
        show_trees(result, chosen)


def show_who(result: "ScoreResult", book: "NameBook") -> None:
    """Name the miners of the answers, for the tables above know hotkeys alone."""
    known = [book.find(one.hotkey, result.mechanism.name) for one in result.answers]
    rows = [[one.name, "" if one.uid is None else one.uid, one.hotkey] for one in known if one.name is not None]
    if rows:
        print_table(("miner", "uid", "hotkey"), rows)


def show_extras(extras: "dict[str, RoundExtra]") -> None:
    from weighbeam.cli.score.tables import show_narrative

    heatmap, narrative = extras.get("heatmap"), extras.get("narrative")
    if heatmap is not None:
        typer.echo(f"heatmap: {make_printable(heatmap.value or f'none ({heatmap.fault})', 300)}")
    if narrative is not None:
        show_narrative(narrative.value or "")
        if narrative.fault is not None:
            typer.echo(f"narrated by {narrative.maker}: {make_printable(narrative.fault, 200)}")
