"""Presets of parameters, and records that are older than a parameter."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import pytest
from keyword_recall.mechanism import RecallParams

from engine.recall import PaidRecall, play
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.lab.backtest.overrides import parse_overrides
from weighbeam.mechanism.params import Params, Values, before, make_params, read_by, recall_params
from weighbeam.mechanism.records import Scored
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanism.released import load_released
from weighbeam.store.database import Store


class LaterParams(RecallParams):
    """`gain` came with a later version; before it nothing was multiplied."""

    presets: ClassVar[Mapping[str, Values]] = {"seed": {"gain": 1.0}}
    gain: Annotated[float, read_by("score"), before(1.0)] = 3.0


class LaterRecall(PaidRecall):
    params_type = LaterParams

    def score(self, params: LaterParams, observation: Any) -> Scored:
        assert params.gain == 1.0, "an old round is scored by a rule that came later"
        return super().score(params, observation)


def test_a_preset_gives_way_to_values_beside_it() -> None:
    assert make_params(LaterRecall()).model_dump()["gain"] == 3.0
    assert make_params(LaterRecall(), {"preset": "seed"}).model_dump()["gain"] == 1.0
    assert make_params(LaterRecall(), {"preset": "seed", "gain": 2.0}).model_dump()["gain"] == 2.0


@pytest.mark.parametrize("name", ["sown", 3, None])
def test_an_unknown_preset_is_refused_with_the_known_ones(name: object) -> None:
    with pytest.raises(WeighbeamError, match="no preset is called") as refused:
        make_params(LaterRecall(), {"preset": name})
    assert (refused.value.code, "seed" in str(refused.value.remedy)) == ("bad_params", True)


def test_a_round_of_before_a_parameter_is_computed_by_the_rule_of_then(tmp_path: Path) -> None:
    journal = Journal(Store(f"sqlite:///{tmp_path / 'journal.db'}"))
    for number in range(2):
        play(journal, PaidRecall(), number, 1e6 + number, {"ada": "tide moon", "ben": "tide"})
    assert [one.fault for one in replay(journal.store, lambda _: LaterRecall()) if one.fault] == []


def test_a_backtest_of_a_preset_changes_what_was_recorded() -> None:
    recorded = make_params(LaterRecall()).model_dump(mode="json")
    overrides = parse_overrides({"preset": "seed"}, LaterRecall.name)
    assert overrides.set_params(LaterRecall(), recorded).model_dump()["gain"] == 1.0


@pytest.mark.parametrize("name", sorted(load_released()["0.1.0"]))
def test_every_mechanism_gives_the_seed_back(name: str) -> None:
    mechanism = load_mechanism(name)
    assert isinstance(make_params(mechanism, {"preset": "seed"}), Params)
    assert recall_params(mechanism, make_params(mechanism).model_dump(mode="json")) == make_params(mechanism)
