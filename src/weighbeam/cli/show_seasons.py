"""Simulated seasons on a terminal: who earned what, and how much of it is luck."""

from rich.console import Console
from rich.text import Text

from weighbeam.cli.shell import make_printable
from weighbeam.cli.show_lab import make_table, make_text, print_dim
from weighbeam.lab.luck import Luck
from weighbeam.lab.measure import Trial, kendall
from weighbeam.lab.year_record import YearRecord


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
        "of fair: 1 is an equal share of all pay. signs: turns that spoke against the miner.\n"
        f"tau {kendall(trial):.2f}: how well the standings of the honest follow their skill. seed {trial.seed}"
    )


def show_luck(luck: Luck, seasons: int, rounds: int) -> None:
    """The best paid first."""
    table = make_table("miner", "share of pay", "95 % of it", "usual place", "best", "worst")
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
