"""Observing a round: every answer is looked at once, and no fault of ours is charged to a miner."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Scored, Task
from weighbeam.mechanisms.chunking.documents import example_rounds
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.local import LocalSenses

CHUNKING, PARAMS = Chunking(), ChunkingParams()


class Watched:
    """Real senses whose embedder counts what it is given and can be told to fail on some texts."""

    def __init__(self, senses: LocalSenses, poison: str | None = None) -> None:
        self.real = senses
        self.embedder = self
        self.id, self.digest, self.dimensions = "watched", "0", senses.embedder.dimensions
        self.sentences = senses.sentences
        self.poison = poison
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        if self.poison is not None and any(self.poison in text for text in texts):
            raise RuntimeError("model failed")
        self.texts += texts
        return self.real.embedder.embed(texts)


def ask(answers: Sequence[Answer], document: str = "Rain falls. Corn grows. Mills turn. Bread bakes.") -> Asked:
    task = Task("t", {"document": document, "chunk_size": 100, "chunk_qty": 9})
    return Asked(task, Group(tuple(a.hotkey for a in answers)), tuple(answers), "seed")


def score(asked: Asked, senses: object) -> Scored:
    observation = CHUNKING.observe(PARAMS, asked, senses)
    return CHUNKING.score(PARAMS, Observation.unpack(observation.pack()))


def test_each_distinct_segment_is_embedded_once_and_failed_answers_never(senses: LocalSenses) -> None:
    watched = Watched(senses)
    answers = [
        Answer("a", {"chunks": ["Rain falls. Corn grows.", "Mills turn. Bread bakes."]}),
        Answer("b", {"chunks": ["Rain falls. Corn grows.", "Mills turn.", "Bread bakes."]}),
        Answer("c", {"chunks": ["Rain falls. Corn grows.", "Mills turn. Bread bakes."]}),
        Answer("d", {"chunks": ["Snow falls."]}),
    ]
    scored = score(ask(answers), watched)
    assert sorted(watched.texts) == sorted(set(watched.texts))
    assert "Snow falls." not in watched.texts
    values = {s.hotkey: s.value for s in scored.scores}
    assert values["a"] == values["c"]
    assert scored.summary["places"]["a"] == scored.summary["places"]["c"]
    assert scored.summary["duplicates"] == 2


def test_a_text_our_model_cannot_take_unscores_only_who_used_it(senses: LocalSenses) -> None:
    watched = Watched(senses, poison="Mills turn. Bread")
    answers = [
        Answer("hit", {"chunks": ["Rain falls. Corn grows.", "Mills turn. Bread bakes."]}),
        Answer("spared", {"chunks": ["Rain falls. Corn grows.", "Mills turn.", "Bread bakes."]}),
    ]
    scored = score(ask(answers), watched)
    states = {s.hotkey: (s.status, s.value) for s in scored.scores}
    assert CHUNKING.observe(PARAMS, ask(answers), watched).facts["faults"] == ["RuntimeError: model failed"]
    assert states["hit"] == ("unscored", None)
    assert states["spared"][0] == "valid"
    assert scored.summary["places"] == {"hit": None, "spared": 0.0}


def test_a_dead_embedder_unscores_everybody_and_fails_nobody(senses: LocalSenses) -> None:
    scored = score(example_rounds()[0], Watched(senses, poison=""))
    assert {s.status for s in scored.scores} == {"unscored", "failed"}
    failed = {s.hotkey for s in scored.scores if s.status == "failed"}
    assert failed == {"shuffled", "inventor", "dropper", "wrong-types", "silent"}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer("x", None, status="timeout"), "no_chunks"),
        (Answer("x", None, status="unreachable"), "no_chunks"),
        (Answer("x", None, status="malformed"), "malformed"),
        (Answer("x", None, status="too_large"), "too_large"),
        (Answer("x", None, status="validator_error"), "validator_fault"),
        (Answer("x", "text"), "malformed"),
        (Answer("x", ["Rain falls."]), "malformed"),
        (Answer("x", {}), "no_chunks"),
        (Answer("x", {"chunks": {"a": 1}}), "malformed"),
        (Answer("x", {"chunks": [{"deep": [1, [2]]}]}), "malformed"),
        (Answer("x", {"chunks": ["Rain falls."]}, float("nan")), "validator_fault"),
    ],
)
def test_whatever_a_miner_sends_has_a_reason(answer: Answer, reason: str, senses: LocalSenses) -> None:
    good = Answer("good", {"chunks": ["Rain falls. Corn grows. Mills turn. Bread bakes."]})
    scored = score(ask([good, answer]), senses)
    assert scored.scores[1].reasons == (reason,)
    assert scored.scores[0].status == "valid"


def test_nothing_but_chunks_is_read_from_a_payload(senses: LocalSenses) -> None:
    chunks = ["Rain falls. Corn grows.", "Mills turn. Bread bakes."]
    honest = Answer("a", {"chunks": chunks}, 9.0)
    liar = replace(honest, payload={"chunks": chunks, "seconds": 0, "chunk_size": 9**9, "hotkey": "b"})
    assert score(ask([honest]), senses).scores == score(ask([liar]), senses).scores


def test_copies_share_a_result_but_not_the_time_penalty(senses: LocalSenses) -> None:
    chunks = ["Rain falls. Corn grows. Mills turn. Bread bakes."] * 1
    scored = score(ask([Answer("fast", {"chunks": chunks}, 1), Answer("slow", {"chunks": chunks}, 5)]), senses)
    fast, slow = scored.scores
    assert fast.parts["similarity"] == slow.parts["similarity"]
    assert (fast.parts["time_penalty"], slow.parts["time_penalty"]) == (0.0, 1.25)


def test_scoring_needs_no_text_and_no_sense(senses: LocalSenses) -> None:
    observation = CHUNKING.observe(PARAMS, example_rounds()[0], senses)
    bare = Observation.unpack(observation.pack())
    assert not bare.texts
    assert CHUNKING.score(PARAMS, bare) == CHUNKING.score(PARAMS, observation)


def test_padding_moves_no_embedding(senses: LocalSenses) -> None:
    plain = ["Rain falls. Corn grows.", "Mills turn. Bread bakes."]
    padded = ["  Rain \n falls.\tCorn grows.", "Mills turn.   Bread bakes. "]
    first, second = score(ask([Answer("a", {"chunks": plain}), Answer("b", {"chunks": padded})]), senses).scores
    assert first.parts["similarity"] == second.parts["similarity"]
