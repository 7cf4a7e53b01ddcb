"""The end of a demo on one screen: who earned what, which tricks were stopped, what was proved, where to look next."""

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

WIDTH = 80
KINDS = {"honest": "honest", "hostile": "tricks", "guest": "guest"}
NAME_WIDTH = 9
UNBROKEN = "\u00a0"
DETAILS = "details.txt"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DemoFiles:
    """The demo's folder if there is one to look into, a round of it that has a story, and whether it `goes` at the
    end."""

    folder: Path
    round: str
    goes: bool = False


def show_summary(console: Console, result: Mapping[str, Any], program: str, files: DemoFiles | None) -> None:
    console.print()
    for style, line in (
        *_list_pay(result),
        *_list_stopped(result),
        *_list_proofs(result),
        *_list_next(program, files),
    ):
        console.print(Text(line, style), soft_wrap=True)


Line = tuple[str, str]
"""A style and a text."""


def _list_pay(result: Mapping[str, Any]) -> Iterator[Line]:
    yield "bold", "Earnings, in % of a mechanism's pay"
    notes = []
    for name, part in result["mechanisms"].items():
        head = name
        for role, title in KINDS.items():
            rows = [row for row in part["miners"] if row["role"] == role]
            if not rows:
                continue
            paid = sorted((row for row in rows if row["incentive"]), key=lambda row: -row["incentive"])
            earned = ", ".join(_name_earner(row).replace(" ", UNBROKEN) for row in paid) or "nobody"
            total = sum(row["incentive"] for row in rows)
            yield from _wrap(_lead(head, title, total), earned, "green" if role == "honest" else "")
            notes += [row["note"] for row in paid if row.get("note")]
            head = ""
        if part["burn"]:
            wanted = f"{part['burn']['wanted']:.0%} of all weight, as its rules say"
            yield "dim", _lead("", "burnt", part["burn"]["incentive"]) + wanted
    for note in notes:
        yield from _wrap("  * ", note, "dim")
    yield "", ""


def _lead(mechanism: str, kind: str, share: float) -> str:
    return f"  {mechanism:<{NAME_WIDTH}} {kind:<6} {100 * share:5.1f}  "


def _name_earner(row: Row) -> str:
    """A trick is named with what it does."""
    mark = "*" if row.get("note") else ""
    trick = f" ({row['about']})" if row["role"] == "hostile" else ""
    return f"{row['name']}{mark} {100 * row['incentive']:.1f}{trick}"


def _list_stopped(result: Mapping[str, Any]) -> Iterator[Line]:
    hostile = {
        name: [row for row in part["miners"] if row["role"] == "hostile"] for name, part in result["mechanisms"].items()
    }
    stopped = {name: [row for row in rows if not row["incentive"]] for name, rows in hostile.items()}
    total = sum(map(len, hostile.values()))
    yield "bold", f"Tricks that earned nothing: {sum(map(len, stopped.values()))} of {total}"
    for name, rows in stopped.items():
        counted = f"{len(rows)} of {len(hostile[name])}"
        yield from _wrap(f"  {name:<{NAME_WIDTH}} {counted:<15}", _list_tricks(rows) or "none", "")
    yield "", ""


def _list_tricks(rows: Iterable[Row]) -> str:
    """Their tricks, each one once.

    >>> _list_tricks([{"about": "repeats"}, {"about": "shouts"}, {"about": "repeats"}]).replace(UNBROKEN, " ")
    'repeats (2), shouts'
    """
    abouts = [row["about"].replace(" ", UNBROKEN) for row in rows]
    counts = {about: abouts.count(about) for about in abouts}
    return ", ".join(about if count == 1 else f"{about}{UNBROKEN}({count})" for about, count in counts.items())


def _list_proofs(result: Mapping[str, Any]) -> Iterator[Line]:
    yield "bold", "Proved"
    validators = [row for part in result["mechanisms"].values() for row in part["validators"]]
    confirmed = sum(row["weigh_in"] == "confirmed" for row in validators)
    yield _mark(confirmed == len(validators)), f"  weights  {confirmed} of {len(validators)} confirmed on the chain"
    replay = result["replay"]
    verdict = "equal to the bit" if replay["equal"] else "different"
    entries = f"{replay['entries']} journal entries computed again: {verdict}"
    yield _mark(replay["equal"]), f"  replay   {entries}"
    if not result["failures"]:
        yield "green", "  pay      every honest miner is paid; no trick that must fail earns as much"
    for failure in result["failures"]:
        yield from _wrap("  ", f"not as it should be: {failure}", "red")
    for told in _list_void(result):
        yield from _wrap("  ", told, "yellow")
    yield "", ""


def _mark(good: bool) -> str:
    return "green" if good else "red"


def _list_void(result: Mapping[str, Any]) -> Iterator[str]:
    validators = {name: part["validators"] for name, part in result["mechanisms"].items()}
    late = [name for name, rows in validators.items() if any(row["void"] for row in rows)]
    if late:
        every = [row for name in late for row in validators[name]]
        counted = f"{sum(row['void'] for row in every)} of {sum(row['rounds'] for row in every)} rounds"
        yield f"{counted} of {' and '.join(late)} are void: this machine was late, so nobody was charged for them"


def _list_next(program: str, files: DemoFiles | None) -> Iterator[Line]:
    place = "" if files is None else ", while this stays open" if files.goes else f", in {files.folder}"
    yield "bold", f"Where to look next{place}"
    looks = list_looks(program, files)
    widest = max(map(len, looks))
    if widest + 4 + max(map(len, looks.values())) <= WIDTH:
        yield from (("", f"  {command:<{widest}}  {what}") for command, what in looks.items())
        return
    for command, what in looks.items():
        yield from (("", f"  {line}") for line in split_command(command))
        yield "dim", f"      {what}"


def list_looks(program: str, files: DemoFiles | None) -> dict[str, str]:
    """Commands, each with what it shows."""
    stays = {f"{program} demo --stay": "a dashboard that stays"}
    if files is None:
        return {
            **stays,
            f"{program} demo --details": "every score and reason",
            f"{program} demo --folder demo-subnet": "keep journals and heatmaps",
            f"{program} demo --write my-subnet": "run its parts one by one",
        }
    journal = files.folder / "validator-1.db"
    serve = {f"{program} serve --config {files.folder / 'validator-1.toml'}": "the dashboard on this demo"}
    return {
        f"cat {files.folder / DETAILS}": "every miner's scores, standings, weights and reasons",
        **({} if files.goes else serve),
        f"{program} replay --verify --store {journal}": "compute every number again",
        f"{program} journal round {files.round} --store {journal}": "one round in words, with its heatmap",
        **({f"{program} demo --folder demo-subnet": "keep journals and heatmaps"} if files.goes else {}),
    }


def split_command(command: str) -> list[str]:
    """A command that is too long for one line, on two that can be pasted.

    >>> split_command("weighbeam replay --store a.db")
    ['weighbeam replay --store a.db']
    >>> [line[-6:] for line in split_command(f"weighbeam {'a' * 80} --store a.db")] == ["aaaa " + chr(92), "e a.db"]
    True
    """
    if len(command) <= WIDTH - 2:
        return [command]
    head, option, rest = command.rpartition(" --")
    return [f"{head} \\", f"    {option.strip()}{rest}"] if head else [command]


def _wrap(lead: str, text: str, style: str) -> Iterator[Line]:
    lines: Sequence[str] = textwrap.wrap(text, WIDTH - len(lead), break_on_hyphens=False)
    for number, line in enumerate(lines):
        yield style, f"{lead if not number else ' ' * len(lead)}{line}".replace(UNBROKEN, " ")
