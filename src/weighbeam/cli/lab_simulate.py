"""`weighbeam lab simulate`: a season of a population and who earned what, or many seasons of recorded rounds."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from weighbeam.cli.lab_options import Settings
from weighbeam.cli.overrides import read_overrides
from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import print_json
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
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Play a season of honest and other miners, or seasons of recorded rounds: what each earned."""
    crews = read_crews(attacks or [])
    given = read_overrides(None, settings)
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

    from weighbeam.cli.show_seasons import show_trial
    from weighbeam.lab.measure import kendall
    from weighbeam.lab.play import Season
    from weighbeam.lab.simulate import Population
    from weighbeam.lab.simulate import simulate as play

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

    from weighbeam.cli.show_seasons import show_luck
    from weighbeam.engine.read_journal import view_journal
    from weighbeam.lab.bench import check_length
    from weighbeam.lab.luck import weigh_luck
    from weighbeam.lab.play import Season, play_seats
    from weighbeam.lab.worlds.recorded import RecordedWorld
    from weighbeam.mechanisms.registry import load_mechanism

    check_length(len(seeds), rounds)
    world = RecordedWorld(view_journal(journal), load_mechanism(mechanism), params)
    luck = weigh_luck([play_seats(world, world.seat_all(), seed, Season(rounds=rounds)) for seed in seeds])
    if not as_json:
        show_luck(luck, len(seeds), rounds)
        return
    print_json({"mechanism": mechanism, "rounds": rounds, "seeds": list(seeds), "params": dict(params), **asdict(luck)})


def read_crews(given: list[str]) -> dict[str, int]:
    """
    >>> read_crews(["copycat=4", "padding=2"])
    {'copycat': 4, 'padding': 2}
    """
    crews: dict[str, int] = {}
    for one in given:
        family, _, count = one.partition("=")
        if not family or not count.isascii() or not count.isdigit() or len(count) > 4 or not int(count):
            raise WeighbeamError("bad_population", f"--attack {one!r} says not how many", "write --attack copycat=4")
        crews[family] = crews.get(family, 0) + int(count)
    return crews
