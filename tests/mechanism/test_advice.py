"""Advice is true: who follows it scores more. Every reason has its sentence, and no miner's word is ever in one."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from tests_root import ROOT
from weighbeam.engine.views.miner import find_best
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Advice, Answer, Asked, Group, Reply, Score, ScorePair, Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.check import Failure
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES, find_archive
from weighbeam.mechanisms.inference.examples import GAP, THERMAL
from weighbeam.mechanisms.inference.reasons import OUT
from weighbeam.mechanisms.novelty.observe import REFUSALS
from weighbeam.mechanisms.novelty.question import BREAD, OTTERS
from weighbeam.mechanisms.novelty.reward import Status
from weighbeam.senses.local import LocalSenses

NAMES = ("chunking", "evidence", "inference", "novelty")
EXAMPLE = json.loads((ROOT / "examples/evidence.json").read_text("utf-8"))
MARK = "<script>boo</script>"


@pytest.fixture(scope="module")
def web(cache: Path) -> Iterator[LocalSenses]:
    archive = find_archive()
    pages, lists = f"archive:{archive}", archive / "lists"
    senses = LocalSenses(cache=cache, pages=pages, lists=lists, extra_suffixes=BANK_SUFFIXES, workers=1)
    yield senses
    senses.pages.close()


def judge(mechanism: Mechanism, asked: Asked, senses: LocalSenses, hotkey: str) -> ScorePair:
    params = make_params(mechanism)
    scores = mechanism.score(params, mechanism.observe(params, asked, senses)).scores
    return next(score for score in scores if score.hotkey == hotkey), find_best(scores)


def advise(mechanism: Mechanism, pairs: Sequence[ScorePair]) -> tuple[Advice, ...]:
    found = mechanism.advise(make_params(mechanism), pairs)
    assert len(found) <= 5
    gains = [one.gain or 0.0 for one in found]
    assert gains == sorted(gains, reverse=True)
    assert all(one.text.endswith(".") and ".." not in one.text for one in found)
    return found


def change(asked: Asked, hotkey: str, payload: Any) -> Asked:
    """The same round with another answer of one miner, as soon as the best."""
    answers = [replace(one, payload=payload, seconds=1.0) if one.hotkey == hotkey else one for one in asked.answers]
    return replace(asked, answers=tuple(answers))


def check_followed(name: str, senses: LocalSenses, asked: Asked, hotkey: str, title: str, payload: Any) -> None:
    """The top advice is `title`, and an answer that follows it scores more."""
    mechanism = load_mechanism(name)
    before = judge(mechanism, asked, senses, hotkey)
    assert advise(mechanism, [before] * 4)[0].title == title
    after = judge(mechanism, change(asked, hotkey, payload), senses, hotkey)
    assert (after[0].value or 0.0) > (before[0].value or 0.0)
    assert title not in [one.title for one in advise(mechanism, [after] * 4)]


def cut(text: str, limit: int) -> list[str]:
    """Sentences, as many as fit into a chunk."""
    chunks = [""]
    for sentence in text.replace(". ", ".| ").split("|"):
        if len(chunks[-1]) + len(sentence) > limit:
            chunks.append("")
        chunks[-1] += sentence
    return chunks


def test_shorter_chunks_score_more(senses: LocalSenses) -> None:
    asked = load_mechanism("chunking").examples()[0]
    shorter = {"chunks": cut(asked.task.body["document"], 1400)}
    check_followed("chunking", senses, asked, "whole", "Keep chunks within chunk_size", shorter)


def test_words_of_the_document_alone_score_more(senses: LocalSenses) -> None:
    asked = load_mechanism("chunking").examples()[0]
    mended = {"chunks": asked.task.body["document"].split("\n\n")}
    check_followed("chunking", senses, asked, "inventor", "Do not fail as new_words", mended)


def test_an_answer_in_time_scores_more(senses: LocalSenses) -> None:
    asked = load_mechanism("chunking").examples()[0]
    same = {"chunks": asked.task.body["document"].split("\n\n")}
    check_followed("chunking", senses, asked, "late", "Answer sooner", same)


def test_what_a_penalty_cost_is_what_leaving_it_out_brings(senses: LocalSenses) -> None:
    """The gain that is told is the one that comes true."""
    mechanism = load_mechanism("chunking")
    asked = mechanism.examples()[0]
    late = judge(mechanism, asked, senses, "late")
    soon = judge(
        mechanism, change(asked, "late", {"chunks": asked.task.body["document"].split("\n\n")}), senses, "late"
    )
    told = advise(mechanism, [late])[0].gain
    assert told == pytest.approx((soon[0].value or 0.0) - (late[0].value or 0.0), abs=1e-9)


def test_evidence_without_bad_snippets_scores_more(web: LocalSenses) -> None:
    good = EXAMPLE["answers"][0]["snippets"]
    sloppy = [
        *good[:1],
        {"url": "http://insecure.example/", "excerpt": good[0]["excerpt"]},
        {"url": "no", "excerpt": ""},
    ]
    answers = (
        Answer("a", {"snippets": sloppy}, 1.0),
        Answer("b", {"snippets": EXAMPLE["answers"][1]["snippets"]}, 1.0),
    )
    asked = Asked(Task("t", {"statement": EXAMPLE["statement"]}), Group(("a", "b")), answers, "seed")
    better = {"snippets": good[:1]}
    check_followed("evidence", web, asked, "a", "Check snippets before you send them", better)


@pytest.mark.parametrize(
    "urls", [["http://a.example/", "http://b.example/", "http://c.example/"], ["http://a.example/"]]
)
def test_nobody_is_told_to_send_nothing(urls: list[str], web: LocalSenses) -> None:
    """An empty answer costs five points: where no sound snippet is left, one has to be found."""
    mechanism, excerpt = load_mechanism("evidence"), EXAMPLE["answers"][0]["snippets"][0]["excerpt"]
    bad = {"snippets": [{"url": url, "excerpt": excerpt} for url in urls]}
    answers = (Answer("a", bad, 1.0), Answer("b", {"snippets": EXAMPLE["answers"][1]["snippets"]}, 1.0))
    asked = Asked(Task("t", {"statement": EXAMPLE["statement"]}), Group(("a", "b")), answers, "seed")
    own, best = judge(mechanism, asked, web, "a")
    told = advise(mechanism, [(own, best)])[0]
    assert best is not None
    assert told.gain == pytest.approx((best.value or 0.0) - (own.value or 0.0))
    assert "sound ones" in told.text


def test_what_a_bad_snippet_cost_is_what_leaving_it_out_brings(web: LocalSenses) -> None:
    mechanism, good = load_mechanism("evidence"), EXAMPLE["answers"][0]["snippets"][:1]
    bad = {"url": "http://a.example/", "excerpt": good[0]["excerpt"]}
    answers = (Answer("a", {"snippets": [*good, bad]}, 1.0),)
    asked = Asked(Task("t", {"statement": EXAMPLE["statement"]}), Group(("a",)), answers, "seed")
    before = judge(mechanism, asked, web, "a")
    after = judge(mechanism, change(asked, "a", {"snippets": good}), web, "a")
    told = advise(mechanism, [before])[0]
    assert told.title == "Check snippets before you send them"
    assert told.gain == pytest.approx((after[0].value or 0.0) - (before[0].value or 0.0))


def test_an_answer_of_ones_own_scores_more_than_an_echo(senses: LocalSenses) -> None:
    asked = load_mechanism("inference").examples()[0]
    check_followed("inference", senses, asked, "echo", "Do not fail as echo", {"text": f"{GAP} {THERMAL[:150]}."})


def test_something_new_earns_more(senses: LocalSenses) -> None:
    asked = load_mechanism("novelty").examples()[0]
    told = "Lightning heats the air around it to five times the temperature of the surface of the Sun."
    first = replace(asked, answers=asked.answers[:3])
    check = load_mechanism("novelty")
    before = judge(check, first, senses, "paraphrase")
    assert advise(check, [before])[0].title == "Say what is farther from what is known"
    after = judge(check, change(first, "paraphrase", {"contributions": [told]}), senses, "paraphrase")
    assert (after[0].value or 0.0) > (before[0].value or 0.0)
    twice = {"contributions": [BREAD, OTTERS]}
    assert "Do not submit a text twice" in [
        one.title for one in advise(check, [judge(check, change(first, "paraphrase", twice), senses, "paraphrase")])
    ]


@pytest.mark.parametrize("name", NAMES)
def test_whatever_a_round_holds_advice_is_plain(name: str, senses: LocalSenses, web: LocalSenses) -> None:
    """Over the examples: nobody's name or word is in it, nothing fails, and the same rounds say the same."""
    mechanism, params = load_mechanism(name), make_params(load_mechanism(name))
    for asked in mechanism.examples():
        marked = replace(asked, answers=tuple(replace(one, hotkey=one.hotkey + MARK) for one in asked.answers))
        named = replace(marked, group=Group(tuple(one.hotkey for one in marked.answers)))
        scores = mechanism.score(params, mechanism.observe(params, named, web if name == "evidence" else senses)).scores
        for score in scores:
            if score.status == "unscored":
                continue
            pairs = [(score, find_best(scores)), (score, None)]
            found = advise(mechanism, pairs)
            assert MARK not in "".join(one.title + one.text for one in found)
            assert found == advise(mechanism, pairs)
            assert set(score.reasons) <= set(mechanism.meanings)


@pytest.mark.parametrize("name", NAMES)
def test_no_rounds_give_no_advice(name: str) -> None:
    mechanism = load_mechanism(name)
    assert advise(mechanism, []) == ()
    assert advise(mechanism, [(Score("a", "failed", 0.0, None, (MARK,)), None)]) == ()


def test_every_reason_has_its_sentence() -> None:
    replies = set(get_args(Reply)) - {"ok", "validator_error"}
    emitted = {
        "chunking": {*get_args(Failure), "validator_fault"},
        "evidence": {name.removeprefix("penalty_") for name in EvidenceParams.model_fields if "penalty_" in name}
        | {"duplicate_statements", "partly_copied", "validator_fault"},
        "inference": replies
        | {
            "off_topic",
            "echo",
            "not_prose",
            "gathers",
            "thin",
            "empty",
            "validator_fault",
            "void_round",
            "wrong",
            *OUT,
        },
        "novelty": replies | REFUSALS | (set(get_args(Status)) - {"paid"}) | {"not_new", "validator_error"},
    }
    for name, codes in emitted.items():
        mechanism = load_mechanism(name)
        assert set(mechanism.meanings) == codes
        assert all(text.endswith(".") and text[0].isupper() for text in mechanism.meanings.values())
