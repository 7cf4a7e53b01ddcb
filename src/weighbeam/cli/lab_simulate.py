"""`weighbeam lab simulate`: one season of a population, and who earned what."""

from typing import Annotated

import typer

from weighbeam.cli.lab_options import Settings
from weighbeam.cli.overrides import read_overrides
from weighbeam.cli.settings import AsJson
from weighbeam.cli.shell import print_json
from weighbeam.core.errors import WeighbeamError

Crowds = Annotated[
    list[str] | None, typer.Option("--attack", metavar="FAMILY=MINERS", help="So many play this; may be repeated.")
]


def simulate(
    mechanism: Annotated[str, typer.Option(help="The mechanism that is played.")],
    honest: Annotated[int | None, typer.Option(help="Honest miners; else as many as its world has.")] = None,
    attacks: Crowds = None,
    seed: Annotated[int, typer.Option(help="All chance follows from it.")] = 0,
    rounds: Annotated[int, typer.Option(help="Rounds of the season.")] = 48,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Play one season of honest and other miners: what each earned, and where it stands at the end."""
    from dataclasses import asdict

    from weighbeam.cli.show_lab import show_crowd
    from weighbeam.lab.measure import kendall
    from weighbeam.lab.params import sort_params
    from weighbeam.lab.play import Season
    from weighbeam.lab.simulate import Crowd
    from weighbeam.lab.simulate import simulate as play

    crowd = Crowd(mechanism, honest, read_crowds(attacks or []))
    params = sort_params(read_overrides(None, settings), [mechanism]).get(mechanism, {})
    trial = play(crowd, seed, Season(rounds=rounds), params)
    if as_json:
        named = {"attackers": sorted(trial.attackers), "honest": sorted(trial.honest)}
        print_json({**asdict(trial), **named, "tau": kendall(trial), "mechanism": mechanism, "rounds": rounds})
    else:
        show_crowd(trial)


def read_crowds(given: list[str]) -> dict[str, int]:
    """
    >>> read_crowds(["copycat=4", "padding=2"])
    {'copycat': 4, 'padding': 2}
    """
    crowds: dict[str, int] = {}
    for one in given:
        family, _, count = one.partition("=")
        if not family or not count.isascii() or not count.isdigit() or len(count) > 4 or not int(count):
            raise WeighbeamError("bad_crowd", f"--attack {one!r} says not how many", "write --attack copycat=4")
        crowds[family] = crowds.get(family, 0) + int(count)
    return crowds
