"""`weighbeam lab simulate` and `year`: simulated seasons of a population or of recorded rounds."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from weighbeam.cli.common.options import AsJson
from weighbeam.cli.common.overrides import load_overrides
from weighbeam.cli.common.shell import print_json
from weighbeam.cli.lab.options import ReportFile, SetOption, check_report, save_report, show_progress
from weighbeam.core.errors import WeighbeamError, require

Crews = Annotated[
    list[str] | None, typer.Option("--attack", metavar="FAMILY=MINERS", help="So many play this; may be repeated.")
]
JournalOption = Annotated[
    str | None, typer.Option("--journal", help="Draw rounds of this journal, and tell how much of the ranks is luck.")
]


def simulate(
    mechanism: Annotated[str, typer.Option(help="The mechanism that is played.")],
    honest: Annotated[int | None, typer.Option(help="Honest miners; else as many as its world has.")] = None,
    attacks: Crews = None,
    seed: Annotated[int, typer.Option(help="All chance follows from it.")] = 0,
    rounds: Annotated[int, typer.Option(help="Rounds of a season.")] = 48,
    journal: JournalOption = None,
    seasons: Annotated[int, typer.Option(help="With --journal: seasons to draw.")] = 20,
    settings: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a season of honest and other miners.

    Or draw seasons of recorded rounds. Shows what each miner earned.
    """
    crews = parse_crews(attacks or [])
    given = load_overrides(None, settings)
    params = {name.removeprefix(f"{mechanism}."): value for name, value in given.items()}
    if journal is None:
        _play_population(mechanism, honest, crews, seed, rounds, params, as_json)
        return
    told = "a journal brings its own miners"
    require(honest is None and not crews, "bad_population", told, "leave out --honest and --attack")
    _draw_rounds(mechanism, journal, range(seed, seed + seasons), rounds, params, as_json)


def _play_population(
    mechanism: str,
    honest: int | None,
    crews: Mapping[str, int],
    seed: int,
    rounds: int,
    params: Mapping[str, Any],
    as_json: bool,
) -> None:
    from dataclasses import asdict

    from weighbeam.cli.lab.tables import show_trial
    from weighbeam.lab.simulate.measure import kendall
    from weighbeam.lab.simulate.population import Population
    from weighbeam.lab.simulate.population import simulate as play
    from weighbeam.lab.simulate.season import Season

    trial = play(Population(mechanism, honest, crews), seed, Season(rounds=rounds), params)
    if not as_json:
        show_trial(trial)
        return
    named = {"attackers": sorted(trial.attackers), "honest": sorted(trial.honest), "tau": kendall(trial)}
    print_json({"mechanism": mechanism, "rounds": rounds, "params": dict(params), **asdict(trial), **named})


def _draw_rounds(
    mechanism: str, journal: str, seeds: range, rounds: int, params: Mapping[str, Any], as_json: bool
) -> None:
    from dataclasses import asdict

    from weighbeam.cli.lab.tables import show_luck
    from weighbeam.engine.journal.access import view_journal
    from weighbeam.lab.simulate.luck import weigh_luck
    from weighbeam.lab.simulate.recorded import RecordedWorld
    from weighbeam.lab.simulate.season import Season, play_seats
    from weighbeam.lab.trials.bench import check_length
    from weighbeam.mechanism.registry import load_mechanism

    check_length(len(seeds), rounds)
    world = RecordedWorld(view_journal(journal), load_mechanism(mechanism), params)
    luck = weigh_luck([play_seats(world, world.seat_all(), seed, Season(rounds=rounds)) for seed in seeds])
    if not as_json:
        show_luck(luck, len(seeds), rounds)
        return
    print_json({"mechanism": mechanism, "rounds": rounds, "seeds": list(seeds), "params": dict(params), **asdict(luck)})


def parse_crews(given: list[str]) -> dict[str, int]:
    """
    >>> parse_crews(["copycat=4", "padding=2"])
    {'copycat': 4, 'padding': 2}
    """
    crews: dict[str, int] = {}
    for one in given:
        family, _, count = one.partition("=")
        if not family or not count.isascii() or not count.isdigit() or len(count) > 4 or not int(count):
            raise WeighbeamError("bad_population", f"--attack {one!r} says not how many", "write --attack copycat=4")
        crews[family] = crews.get(family, 0) + int(count)
    return crews


def year(
    validators: Annotated[int, typer.Option(help="Validators, of equal stake.")] = 64,
    miners: Annotated[int, typer.Option(help="Miners.")] = 256,
    copiers: Annotated[int, typer.Option(help="Validators that set the consensus of the epoch before.")] = 0,
    colluders: Annotated[int, typer.Option(help="Validators that give half their weight to miners of their own.")] = 0,
    epochs: Annotated[int, typer.Option(help="Epochs of 72 minutes; 7300 are a year.")] = 7300,
    seed: Annotated[int, typer.Option(help="All chance follows from it.")] = 0,
    report: ReportFile = None,
    as_json: AsJson = False,
) -> None:
    """Simulate a year of validators and miners.

    Shows how fair pay is, and what each kind of validator earns.
    """
    from weighbeam.cli.lab.tables import show_year
    from weighbeam.lab.report.records import format_record
    from weighbeam.lab.validators.year_record import run_year

    check_report(report)
    with show_progress("epochs") as on_done:
        record = run_year(
            validators, miners, copiers, colluders, epochs, seed, lambda epoch: on_done(epoch + 1, epochs)
        )
    if as_json:
        print_json(format_record(record))
    else:
        show_year(record)
    save_report(report, [record], None, quiet=as_json)
