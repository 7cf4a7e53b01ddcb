"""Questions: what is refused and how, the bank that is shipped, and rounds that carry hidden ones."""

import json
from dataclasses import replace

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Task
from weighbeam.mechanism.topic_bank import load_topics
from weighbeam.mechanisms.chunking.documents import example_rounds, generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.retrieval.hidden import HIDDEN_QUESTIONS, draw_questions, load_bank
from weighbeam.mechanisms.chunking.retrieval.questions import parse_questions
from weighbeam.mechanisms.chunking.reward import recompute_reward
from weighbeam.senses.local import LocalSenses

CHUNKING = Chunking()
ALWAYS, NEVER = ChunkingParams(retrieval_share=1.0), ChunkingParams()
DOCUMENT = "Rain fell on the dry hills all night. Corn grew along the river bank. The old mill turned slowly at noon."


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (None, "not a list"), ([], "not a list"), ([7], "question 0 is not an object"), ([{"q": " "}], "no text"),
        ([{"q": "x" * 2001, "spans": [[0, 1]]}], "2,001 characters"), ([{"q": "?"}], "either spans or a quote"),
        ([{"q": "?", "spans": [[0, 1]], "quote": "Rain"}], "either"), ([{"q": "?", "spans": []}], "1 to 64"),
        ([{"q": "?", "spans": [[5, 5]]}], "span \\[5, 5\\]"), ([{"q": "?", "spans": [[0, 9999]]}], "9999"),
        ([{"q": "?", "spans": [[True, 4]]}], "True"), ([{"q": "?", "spans": [[0, 1, 2]]}], "0, 1, 2"),
        ([{"q": "?", "quote": "Snow"}], "not in the document"), ([{"q": "?", "quote": "the"}], "more than once"),
        ([{"q": "?", "quote": 3}], "not a text"), ([{"q": "\ud800", "spans": [[0, 1]]}], "no text"),
        ([{"q": "?", "spans": [[0, 1]]}] * 1001, "1,001 questions"),
    ],
)  # fmt: skip
def test_bad_questions_are_refused_with_the_fault(rows: object, said: str) -> None:
    with pytest.raises(WeighbeamError, match=said) as caught:
        parse_questions(rows, DOCUMENT)
    assert caught.value.code == "bad_questions"
    assert caught.value.remedy


def test_a_quote_becomes_its_span() -> None:
    [question] = parse_questions([{"q": "What grew?", "quote": "Corn grew"}], DOCUMENT)
    assert [DOCUMENT[start:end] for start, end in question.spans] == ["Corn grew"]


def test_every_passage_of_the_bank_is_one_sentence_of_its_topic() -> None:
    topics = load_topics()
    everything = "\n\n".join(text for texts in topics.values() for text in texts)
    assert len(load_bank()) >= 72
    assert len({row["q"] for row in load_bank()}) == len(load_bank())
    for row in load_bank():
        assert sum(row["quote"] in text for text in topics[row["topic"]]) == 1, row["q"]
        assert everything.count(row["quote"]) == 1
        assert row["quote"] not in row["q"]


def test_a_generated_document_gets_questions_of_the_bank_then_of_its_sentences() -> None:
    document = generate_document("any", 9000).text
    drawn = draw_questions(document, "seed")
    known = {row["q"]: row["quote"] for row in load_bank()}
    of_bank = [one for one in drawn if one.text in known]
    assert len(drawn) == HIDDEN_QUESTIONS
    assert 2 <= len(of_bank) < HIDDEN_QUESTIONS
    assert all(document[slice(*one.spans[0])] == known[one.text] for one in of_bank)
    made = [one for one in drawn if one.text not in known]
    assert all(set(one.text.split()) & set(document[slice(*one.spans[0])].lower().split()) for one in made)
    assert drawn == draw_questions(document, "seed") != draw_questions(document, "other")


def test_a_script_without_spaces_gets_questions_too() -> None:
    document = "昨天夜里山上下了一场很大的雨，河水涨得很高，村民们都没有睡觉。" * 3
    assert draw_questions(document, "a")


def test_miners_cannot_tell_rounds_with_questions_from_others() -> None:
    for seed in ("a", "b", "c"):
        plain, carrying = CHUNKING.generate_task(NEVER, seed), CHUNKING.generate_task(ALWAYS, seed)
        assert "questions" not in plain.body
        assert len(carrying.body["questions"]) == HIDDEN_QUESTIONS
        assert CHUNKING.pose(ALWAYS, carrying) == CHUNKING.pose(NEVER, plain)
        assert carrying.id == plain.id
        assert CHUNKING.reply_limits(ALWAYS, carrying) == CHUNKING.reply_limits(NEVER, plain)


def test_the_share_of_rounds_is_what_is_asked_for() -> None:
    params = ChunkingParams(retrieval_share=0.3)
    task = CHUNKING.parse_task(params, "d.txt", DOCUMENT)
    carrying = sum("questions" in CHUNKING.finish_task(params, task, seed).body for seed in range(1000))
    assert 250 <= carrying <= 350


def test_an_owner_s_questions_come_before_any_other() -> None:
    line = json.dumps({"document": DOCUMENT, "questions": [{"q": "What turned?", "quote": "old mill"}]})
    task = CHUNKING.parse_task(ALWAYS, "tasks.jsonl 1", line)
    at = DOCUMENT.index("old mill")
    own = [{"q": "What turned?", "spans": [[at, at + 8]]}]
    assert CHUNKING.finish_task(ALWAYS, task, "s").body == {"document": DOCUMENT, "questions": own}
    assert CHUNKING.finish_task(NEVER, task, "s").body == {"document": DOCUMENT}
    with pytest.raises(WeighbeamError, match="more than once"):
        CHUNKING.parse_task(ALWAYS, "tasks.jsonl 2", line.replace("old mill", "the"))


def ask(kind: str = "synthetic") -> Asked:
    asked = example_rounds()[0]
    questions = [one.as_json() for one in draw_questions(asked.task.body["document"], "s")]
    return replace(asked, task=Task("t", {**asked.task.body, "questions": questions}, kind=kind))


def test_rewards_mix_retrieval_in_where_the_owner_wants_it_and_repeat_to_the_bit(senses: LocalSenses) -> None:
    observation = CHUNKING.observe(ALWAYS, ask(), senses)
    scored = CHUNKING.score(ALWAYS, observation)
    again = CHUNKING.score(ALWAYS, Observation.unpack(observation.pack()))
    assert again == scored
    plain = CHUNKING.score(NEVER, CHUNKING.observe(NEVER, example_rounds()[0], senses))
    assert CHUNKING.score(NEVER, observation).scores == plain.scores
    for mixed, before in zip(scored.scores, plain.scores, strict=True):
        assert mixed.status == before.status
        if mixed.parts is not None and before.parts is not None:
            assert mixed.parts["similarity"] == before.parts["similarity"]
            assert 0 <= mixed.parts["retrieval"] <= 1
            assert recompute_reward(mixed.parts) == mixed.value != before.value
            tree = str(CHUNKING.explain(ALWAYS, observation, scored, mixed.hotkey))
            assert "mix of similarity and retrieval = 0.5·" in tree
            assert "hidden questions" in tree
    values = {score.hotkey: score.value for score in scored.scores}
    assert values["paragraphs"] == values["copy"]


def test_a_backtest_of_the_weight_needs_no_new_observation(senses: LocalSenses) -> None:
    observation = CHUNKING.observe(ALWAYS, ask(), senses)
    for weight in (0.0, 1.0):
        params = ChunkingParams(retrieval_share=1.0, retrieval_weight=weight)
        [score] = [one for one in CHUNKING.score(params, observation).scores if one.hotkey == "paragraphs"]
        assert score.parts is not None
        assert score.value == pytest.approx(score.parts["retrieval" if weight else "similarity"], rel=1e-11)


def test_who_asks_from_outside_cannot_set_questions(senses: LocalSenses) -> None:
    observation = CHUNKING.observe(ALWAYS, ask("organic"), senses)
    assert "retrieval" not in observation.facts
    assert set(observation.arrays) == {"vectors"}


class Failing:
    """Real senses whose embedder fails on texts with this word."""

    def __init__(self, senses: LocalSenses, word: str) -> None:
        self.senses, self.word = senses, word
        self.embedder, self.sentences = self, senses.sentences
        self.id, self.digest, self.dimensions = "failing", "0", senses.embedder.dimensions

    def embed(self, texts: list[str]) -> object:
        if any(self.word in text for text in texts):
            raise RuntimeError("no")
        return self.senses.embedder.embed(texts)


def test_what_our_embedder_cannot_read_is_charged_to_nobody(senses: LocalSenses) -> None:
    document = "Rain falls. Corn grows. Mills turn."
    at = document.index("Corn grows.")
    body = {
        "document": document,
        "chunk_size": 50,
        "chunk_qty": 9,
        "questions": [{"q": "What grows?", "spans": [[at, at + 11]]}, {"q": "poison", "spans": [[0, 4]]}],
    }
    answers = (
        Answer("hit", {"chunks": ["Rain falls. Corn grows. Mills", "turn."]}),
        Answer("spared", {"chunks": ["Rain falls.", "Corn grows. Mills turn."]}),
    )
    asked = Asked(Task("t", body), Group(("hit", "spared")), answers, "s")
    observation = CHUNKING.observe(ALWAYS, asked, Failing(senses, "poison"))
    assert len(observation.facts["retrieval"]["questions"]) == 1
    assert {score.status for score in CHUNKING.score(ALWAYS, observation).scores} == {"valid"}
    observation = CHUNKING.observe(ALWAYS, asked, Failing(senses, "Rain falls. Corn"))
    states = {score.hotkey: score.status for score in CHUNKING.score(ALWAYS, observation).scores}
    assert states == {"hit": "unscored", "spared": "valid"}
