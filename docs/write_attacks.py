"""Write the pages of attacks: texts from the catalogue, numbers from the expectations alone. `make docs` runs it."""

from collections.abc import Mapping, Sequence

from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.attack.catalogue import list_attacks
from weighbeam.lab.attack.expectations import FULL, Expected, Measure, load_expectations
from weighbeam.lab.report.page import name_ground
from weighbeam.lab.simulate.measure import Interval, Verdict, judge_profit

INDEX = "README.md"
HEAD = "Written by `make docs` from the catalogue and from what was last measured."
MEANINGS: Mapping[Verdict, str] = {
    "pays": "An identity that does this surely earns more than an honest one.",
    "unclear": "It earns about what honest work earns: which is more, chance decides.",
    "loses": "It surely earns less than honest work, but something.",
    "closed": "It earns at most a tenth of what honest work does.",
}
COLUMNS = "| profit | of all pay | found out | honest accused | tau |"


def write_attacks() -> dict[str, str]:
    """Every page by its file name: one a family, and the index."""
    attacks, expected = list_attacks(), load_expectations(FULL)
    families = sorted({attack.family for attack in attacks})
    pages = {f"{name}.md": format_family([one for one in attacks if one.family == name], expected) for name in families}
    return {INDEX: format_index(attacks, expected), **pages}


def format_family(attacks: Sequence[Attack], expected: Expected) -> str:
    """One idea, on every mechanism it was tried on."""
    family = attacks[0].family
    rows = [f"| {one.mechanism} | {name_verdict(one, expected)} | {format_numbers(one, expected)} |" for one in attacks]
    parts = [
        f"# {family.replace('-', ' ').capitalize()}",
        HEAD + f" [All attacks]({INDEX}), [what the numbers mean](../lab.md#what-the-numbers-mean).",
        "\n".join([f"| on | verdict {COLUMNS}", "| --- | --- | --- | --- | --- | --- | --- |", *rows]),
    ]
    for one in attacks:
        parts.append(f"## On {name_ground(one.mechanism)}")
        parts += [f"**The attack.** {one.what}", f"**Against it.** {one.against}", f"**Stays open.** {one.open}"]
        parts.append(f"A profit of 1 is {one.one}.")
    parts.append(f"Play it:\n\n    weighbeam lab attack {family}")
    return "\n\n".join(parts) + "\n"


def format_index(attacks: Sequence[Attack], expected: Expected) -> str:
    """Those that pay first."""
    families = len({attack.family for attack in attacks})
    parts = [
        "# Attacks",
        f"{HEAD} {len(attacks)} attacks of {families} families, {FULL.seeds} seasons of {FULL.rounds} rounds each. "
        "[How to play them and what the numbers mean](../lab.md).",
    ]
    for verdict, meaning in MEANINGS.items():
        found = [one for one in attacks if name_verdict(one, expected) == verdict]
        found.sort(key=lambda one: (-expected[one.name]["profit"].value, one.name))
        rows = [f"| {_link(one)} | {one.mechanism} | {format_numbers(one, expected)} |" for one in found]
        table = "\n".join([f"| attack | on {COLUMNS}", "| --- | --- | --- | --- | --- | --- | --- |", *rows])
        parts += [f"## {verdict.capitalize()}", meaning, table if found else "None."]
    unknown = [one for one in attacks if one.name not in expected]
    if unknown:
        told = ", ".join(f"{_link(one)} on {one.mechanism}" for one in unknown)
        parts += ["## Not measured yet", told]
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
    return f"[{attack.family}]({attack.family}.md)"


def _format_number(interval: Interval) -> str:
    return f"{interval.value:.2f} ({interval.low:.2f} to {interval.high:.2f})"


def _format_share(interval: Interval) -> str:
    return f"{interval.value:.0%} ({interval.low:.0%} to {interval.high:.0%})"
