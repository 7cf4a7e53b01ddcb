"""Write the pages of attacks: texts from the catalogue, numbers from the expectations alone. `make docs` runs it."""

import math
import textwrap
from collections.abc import Mapping, Sequence

from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.attack.expectations import FULL, Expected, Measure, load_expectations
from weighbeam.lab.report.page import name_ground
from weighbeam.lab.simulate.measure import Interval, Verdict, judge_profit

INDEX, LAB = "README.md", "../guides/lab.md"
WIDTH = 100
HEAD = "Written by `make docs` from the catalogue and from what was last measured."
MEANINGS: Mapping[Verdict, str] = {
    "pays": "An identity that does this surely earns more than an honest one.",
    "unclear": "It earns about what honest work earns: which is more, chance decides.",
    "loses": "It surely earns less than honest work, but something.",
    "closed": "It earns at most a tenth of what honest work does.",
}
COLUMNS = "| profit | of all pay | found out | honest accused | tau |"


def write_attacks() -> dict[str, str]:
    """Every page by its file name: one for each mechanism, and the index."""
    attacks, expected = list_attacks(), load_expectations(FULL)
    grounds = sorted({attack.mechanism for attack in attacks})
    pages = {
        f"{name}.md": format_ground([one for one in attacks if one.mechanism == name], expected) for name in grounds
    }
    return {INDEX: format_index(attacks, expected), **pages}


def format_ground(attacks: Sequence[Attack], expected: Expected) -> str:
    """Every attack on one mechanism: a table of all, best paid first, then a section for each."""
    ground = name_ground(attacks[0].mechanism)
    found = sort_attacks(attacks, expected)
    rows = [
        f"| [{one.family}](#{one.family}) | {name_verdict(one, expected)} | {format_numbers(one, expected)} |"
        for one in found
    ]
    parts = [
        f"# Attacks on {ground}",
        wrap(f"{HEAD} [All attacks]({INDEX}), [what the numbers mean]({LAB}#what-the-numbers-mean)."),
        "\n".join([f"| attack | verdict {COLUMNS}", "| --- | --- | --- | --- | --- | --- | --- |", *rows]),
    ]
    for one in found:
        parts.append(f"## {one.family.replace('-', ' ').capitalize()}")
        told = {"The attack.": one.what, "Against it.": one.against, "Stays open.": one.open}
        parts += [wrap(f"**{title}** {text}") for title, text in told.items()]
        parts += [wrap(f"A profit of 1 is {one.one}."), f"    weighbeam lab attack {one.name}"]
    return "\n\n".join(parts) + "\n"


def sort_attacks(attacks: Sequence[Attack], expected: Expected) -> list[Attack]:
    """Best paid first; those that were never measured last."""
    values = {one.name: -expected[one.name]["profit"].value for one in attacks if one.name in expected}
    return sorted(attacks, key=lambda one: (values.get(one.name, math.inf), one.name))


def wrap(text: str) -> str:
    """Lines that a diff can show; a link is not broken."""
    return textwrap.fill(text, WIDTH, break_long_words=False, break_on_hyphens=False)


def format_index(attacks: Sequence[Attack], expected: Expected) -> str:
    """Those that pay first."""
    families = len({attack.family for attack in attacks})
    parts = [
        "# Attacks",
        wrap(
            f"{HEAD} {len(attacks)} attacks of {families} families, {FULL.seeds} seasons of {FULL.rounds} rounds each. "
            f"[How to play them and what the numbers mean]({LAB})."
        ),
    ]
    for verdict, meaning in MEANINGS.items():
        found = sort_attacks([one for one in attacks if name_verdict(one, expected) == verdict], expected)
        rows = [f"| {_link(one)} | {one.mechanism} | {format_numbers(one, expected)} |" for one in found]
        table = "\n".join([f"| attack | on {COLUMNS}", "| --- | --- | --- | --- | --- | --- | --- |", *rows])
        parts += [f"## {verdict.capitalize()}", meaning, table if found else "None."]
    unknown = [one for one in attacks if one.name not in expected]
    if unknown:
        told = ", ".join(f"{_link(one)} on {one.mechanism}" for one in unknown)
        parts += ["## Not measured yet", wrap(told)]
    return "\n\n".join(parts) + "\n"


def name_verdict(attack: Attack, expected: Expected) -> str:
    row = expected.get(attack.name)
    return "not measured yet" if row is None else judge_profit(row["profit"])


def format_numbers(attack: Attack, expected: Expected) -> str:
    """Cells of a table: profit, share of all pay, found out, honest accused, tau."""
    row = expected.get(attack.name)
    if row is None:
        return " | ".join(["–"] * 5)
    measures: tuple[Measure, ...] = ("taken", "detection", "false_positives")
    shares = [_format_share(row[measure]) for measure in measures]
    return " | ".join([_format_number(row["profit"]), *shares, _format_number(row["tau"])])


def _link(attack: Attack) -> str:
    return f"[{attack.family}]({attack.mechanism}.md#{attack.family})"


def _format_number(interval: Interval) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _format_share(interval: Interval) -> str:
    return f"{interval.value:.0%} ({interval.low:.0%} to {interval.high:.0%})"
