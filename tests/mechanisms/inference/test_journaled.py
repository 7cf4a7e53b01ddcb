"""Rounds of inference in a journal: replayed to the bit, averaged, and answering an organic caller."""

from pathlib import Path

import pytest

from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.requests.organic import answer_request, enqueue_request, select_request, take_next
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.weights.emissions import select_averages
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanisms.inference.examples import PROMPT
from weighbeam.mechanisms.inference.mechanism import Inference
from weighbeam.mechanisms.inference.params import InferenceParams
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

INFERENCE, PARAMS = Inference(), InferenceParams()


@pytest.fixture(scope="module")
def journal(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Journal:
    folder: Path = tmp_path_factory.mktemp("journal")
    journal = Journal(Store(f"sqlite:///{folder / 'journal.db'}"))
    for number, asked in enumerate(INFERENCE.examples()):
        observation = INFERENCE.observe(PARAMS, asked, senses)
        params_hash = hash_params(INFERENCE, PARAMS, observation.facts["senses"])
        params = PARAMS.model_dump(mode="json")
        facts = RoundFacts(f"round-{number}", "inference", params, params_hash, asked.seed, number, 1000.0 + number, ())
        journal.record(facts, asked, observation)
        journal.commit(f"round-{number}", INFERENCE)
    return journal


def test_a_replay_agrees(journal: Journal) -> None:
    replayed = list(replay(journal.store, lambda _: INFERENCE))
    assert len(replayed) >= 3
    assert {result.fault for result in replayed} == {None}


def test_emissions_are_averaged_and_silence_costs(journal: Journal) -> None:
    hotkeys = ("steel", "silent", "our-fault")
    with journal.store.read() as connection:
        found = select_averages(connection, "inference", hotkeys, 1010.0, Averaging(), True)
    assert found["steel"].ema > 0
    assert (found["silent"].ema, found["silent"].count) == (0.0, 1)
    assert found["our-fault"].count == 0


def test_an_organic_caller_gets_the_best_answer(journal: Journal) -> None:
    request = enqueue_request(journal.store, INFERENCE, PARAMS, {"prompt": PROMPT}, 1000.0)
    taken = take_next(journal.store, "inference", "round-0", 0.0)
    assert taken is not None
    answer_request(journal, taken.id, "round-0", INFERENCE)
    done = select_request(journal.store, request)
    assert done.result is not None
    assert done.result["hotkey"] == "thermal"
    assert done.result["score"]["score"] > 55
