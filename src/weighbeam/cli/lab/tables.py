"""Results of the lab on a terminal."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from weighbeam.cli.common.shell import make_printable
from weighbeam.lab.simulate.luck import Luck
from weighbeam.lab.simulate.measure import Interval, Trial, judge_profit, kendall
from weighbeam.lab.validators.year_record import YearRecord

if TYPE_CHECKING:
    from weighbeam.lab.attack.attack import Attack
    from weighbeam.lab.attack.comparison import AttackFinding
    from weighbeam.lab.attack.expectations import Expected
    from weighbeam.lab.trials.bench import BenchResult
    from weighbeam.lab.trials.sweep import SweepResult

WORDS = ("*", "attack", "verdict", "what it does", "of", "miner", "expected", "validators")
TONES = {"closed": "green", "loses": "green", "unclear": "yellow", "pays": "red"}
LEGEND = (
    "profit: pay per identity, 1 is honest work. closed: at most 0.1; loses: surely\n"
    "below 1; pays: surely above 1. found: identities with three signs against them\n"
    "in their first 20 turns; accused: honest ones. tau: ranks against skill."
)


def show_bench(benched: "BenchResult") -> None:
    """A table for each mechanism, the most profitable attack first."""
    for mechanism in sorted({name.partition("/")[0] for name in benched.outcomes}):
        table = make_table(
            "attack", "verdict", "profit", "95 % interval", "taken", "found", "accused", "tau", title=mechanism
        )
        rows = [(name, one) for name, one in benched.outcomes.items() if name.partition("/")[0] == mechanism]
        for name, one in sorted(rows, key=lambda row: (-row[1].profit.value, row[0])):
            shares = [_share(part.value) for part in (one.taken, one.detection, one.false_positives)]
            profit = (f"{one.profit.value:.2f}", f"{one.profit.low:.2f}–{one.profit.high:.2f}")
            verdict = Text(one.verdict, TONES[one.verdict])
            table.add_row(make_text(name.partition("/")[2]), verdict, *profit, *shares, f"{one.tau.value:.2f}")
        Console().print(table)
    pays = sum(one.verdict == "pays" for one in benched.outcomes.values())
    told = f"{len(benched.outcomes)} attack{'' if len(benched.outcomes) == 1 else 's'}, {pays} of them pay"
    print_dim(
        f"{told}; {len(benched.seeds)} seasons of {benched.rounds} rounds each, {benched.seconds:.0f} s\n{LEGEND}"
    )


def show_findings(findings: "Sequence[AttackFinding]") -> None:
    for finding in findings:
        mark = Text("red   " if finding.red else "better", "red" if finding.red else "green")
        Console().print(mark, Text(f"{make_printable(finding.attack, 60)}: {finding.text}"))
    red = sum(finding.red for finding in findings)
    Console().print(Text(f"{red} worse than expected" if red else "nothing is worse than expected"))


def show_catalogue(attacks: "Sequence[Attack]", expected: "Expected") -> None:
    """With what each was worth, where that is known."""
    table = make_table("attack", "expected", "profit", "what it does")
    for one in attacks:
        row = expected.get(one.name)
        verdict = judge_profit(row["profit"]) if row else None
        shown = Text("–") if verdict is None else Text(verdict, TONES[verdict])
        table.add_row(make_text(one.name), shown, format_interval(row["profit"]) if row else "–", Text(one.what))
    Console().print(table)


def show_sweep(swept: "SweepResult") -> None:
    """Best ranks first; * is what no other point beats."""
    names = list(swept.grid)
    table = make_table("*", *names, "tau", "worst", "of", "mean")
    for point in sorted(swept.points, key=lambda point: (-point.tau.value, point.worst.value)):
        values = ["default"] * len(names) if point.default else [str(point.params[name]) for name in names]
        family = point.worst_attack.split("/")[-1]
        told = (f"{point.tau.value:.2f}", f"{point.worst.value:.2f}", make_text(family), f"{point.mean:.2f}")
        table.add_row("*" if point.best else "", *map(make_text, values), *told)
    Console().print(table)
    print_dim(
        "tau: how well ranks follow skill where nobody attacks. worst, mean: profits of\n"
        f"{len(swept.attacks)} attacks, 1 being honest work. *: no other point beats it in both.\n"
        f"{len(swept.seeds)} seasons of {swept.rounds} rounds each, {swept.seconds:.0f} s"
    )


def format_interval(interval: Interval) -> str:
    """
    >>> format_interval(Interval(0.52, 0.4, 0.61))
    '0.52 (0.40–0.61)'
    """
    return f"{interval.value:.2f} ({interval.low:.2f}–{interval.high:.2f})"


def _share(value: float) -> str:
    return f"{value:.0%}"


def make_table(*names: str, title: str | None = None) -> Table:
    """Numbers keep their place; it is names and sentences that give way on a narrow terminal."""
    table = Table(title=title, box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in names:
        gives_way = name in ("attack", "miner", "what it does")
        justify: JustifyMethod = "left" if name in WORDS else "right"
        table.add_column(name, justify=justify, no_wrap=not gives_way, overflow="fold")
    return table


def make_text(value: Any) -> Text:
    return Text(make_printable(str(value), 60))


def print_dim(line: str) -> None:
    Console().print(line, style="dim", markup=False, highlight=False)


def show_trial(trial: Trial) -> None:
    """The best paid first."""
    table = make_table("miner", "skill", "asked", "signs", "earned", "of fair", "standing")
    for name in sorted(trial.earned, key=lambda name: (-trial.earned[name], name)):
        skill = f"{trial.skill[name]:.2f}" if name in trial.skill else "–"
        share = f"{trial.earned[name] / trial.fair:.2f}" if trial.fair else "–"
        stands = f"{trial.standing[name]:.4g}" if name in trial.standing else "–"
        miner = Text(make_printable(name, 60), "yellow" if name in trial.attackers else "")
        counts = (str(trial.turns[name]), str(len(trial.signs[name])))
        table.add_row(miner, skill, *counts, f"{trial.earned[name]:.3f}", share, stands)
    Console().print(table)
    print_dim(
        "of fair: 1 is an equal share of all pay. signs: rounds with signs against the miner.\n"
        f"tau {kendall(trial):.2f}: how well the standings of the honest follow their skill. seed {trial.seed}"
    )


def show_luck(luck: Luck, seasons: int, rounds: int) -> None:
    """The best paid first."""
    table = make_table("miner", "share of pay", "95 % interval", "usual place", "best", "worst")
    for lot in luck.lots:
        share = (f"{lot.share.value:.1%}", f"{lot.share.low:.1%}–{lot.share.high:.1%}")
        table.add_row(make_text(lot.name), *share, f"{lot.place:g}", str(lot.best), str(lot.worst))
    Console().print(table)
    agree = "cannot be said" if luck.agreement is None else f"{luck.agreement:.2f}"
    print_dim(
        f"{seasons} seasons of {rounds} recorded rounds, drawn with replacement. How far any two\n"
        f"seasons agree on the ranks (Kendall's tau; 1 is always, 0 is luck): {agree}"
    )


def show_year(year: YearRecord) -> None:
    """Kinds of validators, then how fair pay was on some days."""
    table = make_table("validators", "of them", "earned per stake", "trust")
    for kind in year.kinds:
        table.add_row(make_text(kind.name), str(kind.validators), f"{kind.earned:.3f}", f"{kind.trust:.3f}")
    Console().print(table)
    table = make_table("day", "tau", "Gini", "top ten have", "paid")
    for number in sorted({0, *range(29, len(year.days), 30), len(year.days) - 1}):
        day = year.days[number]
        tau = "–" if day.tau is None else f"{day.tau:.2f}"
        table.add_row(str(number + 1), tau, f"{day.gini:.2f}", f"{day.top:.0%}", str(day.paid))
    Console().print(table)
    print_dim(
        "earned per stake: 1 is the average of all validators. tau: how well a day's pay follows\n"
        f"the skill of the {year.miners} miners, {year.settled:.2f} over the last tenth. {year.epochs} epochs, "
        f"{year.seconds:.0f} s, seed {year.seed}"
    )
