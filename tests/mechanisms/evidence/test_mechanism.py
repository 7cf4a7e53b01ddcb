"""Evidence as a mechanism: its contract, its rounds in a journal, its question files, whatever miners send."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests_root import ROOT
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.scoring import score_question
from weighbeam.mechanism.checks import check_mechanism
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.task import BANK_SUFFIXES, find_archive, load_bank
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

EVIDENCE = Evidence()
PARAMS = make_params(EVIDENCE)
EXAMPLE = json.loads((ROOT / "examples/evidence.json").read_text("utf-8"))
READER = EXAMPLE["answers"][0]["snippets"]


@pytest.fixture(scope="module")
def web(cache: Path) -> Iterator[LocalSenses]:
    archive = find_archive()
    senses = LocalSenses(
        cache=cache, pages=f"archive:{archive}", lists=archive / "lists", extra_suffixes=BANK_SUFFIXES, workers=1
    )
    yield senses
    senses.pages.close()


def report(web: LocalSenses, question: dict[str, Any]) -> dict[str, Any]:
    judged = score_question(EVIDENCE, question, web)
    for score in judged.scored.scores:
        assert judged.explain(score.hotkey).text
    shown: dict[str, Any] = json.loads(json.dumps(judged.report(), allow_nan=False))
    return shown


def test_it_keeps_the_contract(web: LocalSenses) -> None:
    assert all(finding.ok for finding in check_mechanism(EVIDENCE, web))


def test_the_example_shows_what_it_says(web: LocalSenses) -> None:
    rows = {row["hotkey"]: row for row in report(web, EXAMPLE)["answers"]}
    assert rows["reader"]["status"] == rows["second"]["status"] == "valid"
    assert rows["copycat"]["parts"]["copy_of"] == "reader"
    reasons = {name: row["reason"] for name, row in rows.items()}
    assert reasons == {
        "reader": None,
        "second": None,
        "newcomer": "recent_domain",
        "copycat": "duplicate_statements",
        "forger": "fake_snippet",
        "seller": "blacklisted_domain",
        "parrot": "too_similar",
        "searcher": "search_url",
        "empty": "no_statements",
    }
    best = max(rows.values(), key=lambda row: row["value"])
    assert best["hotkey"] in ("reader", "second")


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (None, "invalid_response"),
        ([], "invalid_response"),
        ({"snippets": "x"}, "invalid_response"),
        ({"snippets": [{"url": "https://a.example", "excerpt": "x" * 300_000}]}, "invalid_response"),
        ({"snippets": []}, "no_statements"),
        ({"snippets": [None]}, "malformed_url"),
        ({"snippets": [{"url": "https://a.example/\ud800", "excerpt": "one two three four five"}]}, "malformed_url"),
        ({"snippets": [{**READER[0], "excerpt": "\ud800 two three four five six"}]}, "invalid_excerpt"),
        ({"snippets": [{**READER[0], "excerpt": None}]}, "invalid_excerpt"),
        ({"snippets": [{**READER[0], "excerpt": "a\x00 b c d e f g"}]}, "invalid_excerpt"),
        ({"snippets": [{"url": "https://nowhere.example/", "excerpt": READER[0]["excerpt"]}]}, "page_unavailable"),
    ],
)
def test_whatever_a_miner_sends_has_a_reason(web: LocalSenses, payload: Any, reason: str) -> None:
    answers = (Answer("odd", payload, 1.0), Answer("good", {"snippets": READER}, 2.0))
    asked = Asked(Task("t", {"statement": EXAMPLE["statement"]}), Group(("odd", "good")), answers, "seed")
    observation = EVIDENCE.observe(PARAMS, asked, web)
    odd, good = EVIDENCE.score(PARAMS, observation).scores
    assert reason in odd.reasons
    assert (odd.value or 0.0) <= 0
    assert good.status == "valid"
    json.dumps(observation.facts, allow_nan=False).encode()


def test_a_word_that_every_quote_holds_makes_nobody_a_copy(web: LocalSenses) -> None:
    griefer = [{"url": READER[0]["url"], "excerpt": word} for word in ("no", "effect on", "the")]
    rows = [
        {"hotkey": "griefer", "seconds": 1, "snippets": griefer},
        {"hotkey": "reader", "seconds": 2, "snippets": READER},
    ]
    found = {row["hotkey"]: row for row in report(web, {"statement": EXAMPLE["statement"], "answers": rows})["answers"]}
    assert found["reader"]["status"] == "valid"
    assert found["griefer"]["value"] < 0


def test_more_than_five_are_not_looked_at(web: LocalSenses) -> None:
    rows = [{"hotkey": "a", "seconds": 1, "snippets": READER * 9}]
    (row,) = report(web, {"statement": EXAMPLE["statement"], "answers": rows})["answers"]
    assert (len(row["snippets"]), row["extra"]) == (5, 4)


class Broken:
    """A sense that fails."""

    id, digest, dimensions = "broken", "0", 384

    def embed(self, _: Any) -> Any:
        raise RuntimeError("no model")

    def judge(self, _: Any) -> Any:
        raise RuntimeError("no model")


@pytest.mark.parametrize("name", ["embedder", "entailment"])
def test_a_model_of_ours_that_fails_leaves_answers_unscored(web: LocalSenses, name: str) -> None:
    class Blind:
        assessor = None

        def __getattr__(self, wanted: str) -> Any:
            return Broken() if wanted == name else getattr(web, wanted)

    judged = score_question(EVIDENCE, EXAMPLE, Blind())
    values = {score.hotkey: score for score in judged.scored.scores}
    assert values["reader"].status == "unscored"
    assert values["searcher"].reasons == ("search_url",)
    assert judged.report()["faults"] == ["RuntimeError: no model"]


@pytest.mark.parametrize("statement", [None, "", "...", "x" * 1001, "\ud800 is it", 7])
def test_what_is_no_statement_is_refused(statement: Any) -> None:
    with pytest.raises(WeighbeamError, match="bad_statement"):
        EVIDENCE.pose(PARAMS, Task("t", {"statement": statement}))


def test_every_statement_of_the_bank_can_be_asked() -> None:
    for row in load_bank():
        assert EVIDENCE.pose(PARAMS, Task("t", row))["statement"] == row["statement"]


def test_rounds_replay_to_the_bit(web: LocalSenses, tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    journal = Journal(store)
    for number in range(3):
        answers = tuple(
            Answer(row["hotkey"], {"snippets": row["snippets"]}, row["seconds"] + number) for row in EXAMPLE["answers"]
        )
        task = Task("t", {"statement": EXAMPLE["statement"]})
        asked = Asked(task, Group(tuple(answer.hotkey for answer in answers)), answers, f"s{number}", at=1.8e9)
        digest = hash_params(EVIDENCE, PARAMS, EVIDENCE.name_senses(PARAMS, web))
        facts = RoundFacts(
            f"r{number}", "evidence", PARAMS.model_dump(mode="json"), digest, f"s{number}", number, 1.8e9
        )
        journal.record(facts, asked, EVIDENCE.observe(PARAMS, asked, web))
        done = journal.commit(f"r{number}", EVIDENCE)
    assert [one.fault for one in replay(store, load_mechanism) if one.fault] == []
    assert done.standings[0].detail["responses"] == 3
    weights = EVIDENCE.weigh_burning(PARAMS, done.standings, {s.hotkey for s in done.standings}, "owner").raw
    assert sum(weights.values()) == 65_535
    assert weights["owner"] == 32_768
    assert weights["reader"] == max(value for hotkey, value in weights.items() if hotkey != "owner")
    store.close()
