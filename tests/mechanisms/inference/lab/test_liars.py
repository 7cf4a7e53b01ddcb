"""What lies earn: as much as honest work without references, less than a third of it with a share of 0.2."""

from collections.abc import Callable

import pytest

from weighbeam.lab.simulate.measure import Trial
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.lab.simulate.world import FixedStrategy, MinerStrategy
from weighbeam.mechanisms.inference.lab.liars import LyingCrew, lie
from weighbeam.mechanisms.inference.lab.world import InferenceWorld
from weighbeam.senses.local import LocalSenses

FIFTY = Season(rounds=50, weigh_every=5)
SEEDS = range(4)


def play(
    senses: LocalSenses, share: float, strategy: Callable[[], MinerStrategy], identities: int, seeds: range = SEEDS
) -> list[Trial]:
    world = InferenceWorld({"reference_share": share}, senses)
    return [play_season(world, strategy(), identities, seed, FIFTY) for seed in seeds]


def compare(trials: list[Trial]) -> float:
    """What an honest miner earns beside a liar, over all rounds from the first on."""
    honest = sum(trial.earned[name] for trial in trials for name in trial.honest)
    lying = sum(trial.earned[name] for trial in trials for name in trial.attackers)
    return (honest / len(trials[0].honest)) / (lying / len(trials[0].attackers))


def compare_ends(trial: Trial) -> float:
    """The same of where they stand after the last round."""
    honest = sum(trial.standing[name] for name in trial.honest) / len(trial.honest)
    return honest / (sum(trial.standing[name] for name in trial.attackers) / len(trial.attackers))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("strategy", "identities"), [(lambda: FixedStrategy(lie), 2), (LyingCrew, 14)], ids=["liar", "majority"]
)
def test_an_honest_miner_earns_three_times_a_liar(
    senses: LocalSenses, strategy: Callable[[], MinerStrategy], identities: int
) -> None:
    trials = play(senses, 0.2, strategy, identities)
    assert compare(trials) >= 3
    assert min(map(compare_ends, trials)) >= 3


@pytest.mark.slow
def test_without_references_lying_pays(senses: LocalSenses) -> None:
    """The defect that references are there for; if this fails, the test above proves less than it says."""
    assert compare(play(senses, 0.0, lambda: FixedStrategy(lie), 2, SEEDS[:2])) < 1.1


def test_the_least_skilled_honest_miner_earns_well_above_a_liar(senses: LocalSenses) -> None:
    """It is right in seven of ten."""
    trials = play(senses, 0.2, lambda: FixedStrategy(lie), 2)
    least = sum(trial.earned[name] for trial in trials for name in trial.honest if trial.skill[name] < 0.2)
    count = sum(trial.skill[name] < 0.2 for trial in trials for name in trial.honest)
    lying = sum(trial.earned[name] for trial in trials for name in trial.attackers)
    assert least / count > 1.5 * lying / (2 * len(trials))
