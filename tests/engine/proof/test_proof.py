"""Parts of a proof that a demo's journal does not show: requests, orphans, replies, and what the docs say of it."""

from dataclasses import replace
from pathlib import Path

import pytest
from keyword_recall.mechanism import KeywordRecall
from sqlalchemy import insert, update

from engine.recall import PARAMS, find, play
from tests_root import ROOT
from weighbeam.chain.contract import StoredWeights
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.head import HeadSigner, sign_heads
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.state import ReplayState
from weighbeam.engine.proof.prove import ProofSummary, prove
from weighbeam.engine.proof.replies import list_replies
from weighbeam.engine.proof.report import check_report_file, save_report
from weighbeam.engine.proof.tables import UNPROVEN, find_fold_faults
from weighbeam.engine.requests.organic import answer_request, enqueue_request, take_next
from weighbeam.engine.rules.averages import Evaluation
from weighbeam.engine.rules.intents import WeightsIntent, find_chain_faults
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.network.keys import Hotkey
from weighbeam.network.replies import bind_body, encode_reply_body
from weighbeam.network.signatures import digest_body, encode_reply_digest
from weighbeam.store import tables
from weighbeam.store.database import Store

ALICE, MINER, RIVAL = (Hotkey.from_uri(f"//{name}") for name in ("Alice", "Miner", "Rival"))
RECALL, START = KeywordRecall(), 1_800_000_000.0


@pytest.fixture
def journal(store_url: str) -> Journal:
    store = Store(store_url)
    sign_heads(store, HeadSigner(ALICE, lambda: START))
    return Journal(store)


def said(found: ProofSummary) -> str:
    return "; ".join(f"{one.ref}: {one.fault}" for one in found.faults)


def sign_answer(key: Hotkey, payload: dict[str, str], round_id: str, asker: str = ALICE.address) -> Answer:
    """An answer as a miner signs it."""
    body, request, nonce = encode_reply_body({"round": round_id, "payload": payload}), "1" * 64, "1800000000"
    text = encode_reply_digest(key.scheme, 200, request, digest_body(body), nonce, key.address, asker)
    parts = {"request": request, "body": digest_body(body), "nonce": nonce, "scheme": key.scheme}
    proof = {**parts, "signature": "0x" + key.sign(text).hex()}
    return Answer(key.address, payload, 0.5, proof=bind_body(proof, body, round_id, payload))


def play_answers(journal: Journal, name: str, answers: tuple[Answer, ...]) -> None:
    asked = Asked(Task(name, {"keywords": ["tide"]}), Group(tuple(one.hotkey for one in answers)), answers, "s")
    facts = RoundFacts(
        name, RECALL.name, PARAMS.model_dump(mode="json"), hash_params(RECALL, PARAMS, {}), "s", 1, START
    )
    journal.record(facts, asked, RECALL.observe(PARAMS, asked, None))
    journal.commit(name, RECALL)


def test_signed_replies_are_verified_and_found_again(journal: Journal) -> None:
    play_answers(
        journal, "r1", (sign_answer(MINER, {"text": "tide"}, "r1"), sign_answer(RIVAL, {"text": "moon"}, "r1"))
    )
    found = prove(journal.store, find)
    assert (said(found), found.replies, found.unsigned_replies) == ("", 2, 0)
    with journal.store.read() as connection:
        (reply,) = list_replies(connection, MINER.address, None, 10)
    assert (reply.round, reply.sequence, reply.is_signed, reply.value) == ("r1", 1, True, 1.0)


@pytest.mark.parametrize("how", ["payload", "miner", "asker", "round"])
def test_an_answer_that_its_miner_did_not_sign_is_found(journal: Journal, how: str) -> None:
    """Even by somebody who holds the hotkey, and records and signs the whole journal again."""
    honest = sign_answer(MINER, {"text": "tide"}, "r1")
    forged = {
        "payload": replace(honest, payload={"text": "moon"}),
        "miner": replace(honest, hotkey=RIVAL.address),
        "asker": sign_answer(MINER, {"text": "tide"}, "r1", RIVAL.address),
        "round": sign_answer(MINER, {"text": "tide"}, "r2"),
    }[how]
    play_answers(journal, "r1", (forged,))
    assert f"r1: the reply of {forged.hotkey}" in said(prove(journal.store, find))
    with journal.store.read() as connection:
        (reply,) = list_replies(connection, forged.hotkey, "r1", 10)
    assert reply.is_signed is False


def test_the_result_of_a_request_must_be_what_its_round_says(journal: Journal) -> None:
    name = enqueue_request(journal.store, RECALL, PARAMS, {"keywords": ["tide"]}, START)
    assert take_next(journal.store, RECALL.name, "r1", START) is not None
    play_answers(journal, "r1", (sign_answer(MINER, {"text": "tide"}, "r1"),))
    answer_request(journal, name, "r1", RECALL)
    assert said(prove(journal.store, find)) == ""
    with journal.store.write() as connection:
        connection.execute(update(tables.requests).values(result={"round": "r1", "payload": "forged"}))
    assert f"requests: the result of request {name} differs from round r1" in said(prove(journal.store, find))


def test_rows_of_no_round_are_named(journal: Journal) -> None:
    play(journal, RECALL, 1, START, {"a": "tide"})
    row = {"round": "nowhere", "hotkey": "a", "status": "valid", "value": 1.0, "reasons": []}
    with journal.store.write() as connection:
        connection.execute(insert(tables.scores).values(**row))
    assert "orphans: scores has rows of round nowhere, which is missing" in said(prove(journal.store, find))


@pytest.mark.parametrize(
    ("settings", "ema", "complete", "fault"),
    [
        ("0.5/24.0/zero", 0.25, True, None),
        ("0.25/24.0/zero", 0.125, True, None),
        ("0.25/24.0/zero", 0.25, True, "its emissions make"),
        ("0.5/24.0/zer0", 0.25, True, "settings that no weigh-in used"),
        ("0.5/48.0/zero", 0.25, True, "settings that no weigh-in used"),
        ("0.5/48.0/zero", 0.25, False, None),
        ("0.5/48.0/zero", 0.75, False, "its emissions make"),
        ("half/48.0/zero", 0.75, False, "settings that no weigh-in used"),
    ],
)
def test_an_average_is_proved_by_the_settings_it_was_made_under(
    journal: Journal, settings: str, ema: float, complete: bool, fault: str | None
) -> None:
    """An operator may have changed them since; somebody who rewrites them beside the average must be found too."""
    kept = {"ema": ema, "folded": 1, "oldest": "r1", "newest": "r1", "newest_at": START}
    with journal.store.write() as connection:
        connection.execute(insert(tables.folds).values(mechanism="any", hotkey="ada", settings=settings, **kept))
    state = ReplayState(emissions={"ada": [Evaluation(START, "r1", 0.5)]})
    with journal.store.read() as connection:
        found = list(find_fold_faults(connection, "any", state, {"0.5/24.0/zero", "0.25/24.0/zero"}, complete))
    assert (fault or "") in "; ".join(found)
    assert bool(found) == (fault is not None)


def test_the_chain_contradicts_a_ledger() -> None:
    stored = StoredWeights(90, 1, 5, 80, ((1, 65535),), ())
    row = WeightsIntent(7, "confirmed", None, ((1, 65535),), {}, 79, 80, START)
    assert list(find_chain_faults([row], stored)) == []
    assert list(find_chain_faults([], stored)) == [
        "the chain holds weights since block 80, but no submission is recorded here"
    ]
    later = replace(stored, last_update=85)
    assert "written in block 85, submission 7" in next(find_chain_faults([row], later))
    assert "last written in block 70" in next(find_chain_faults([row], replace(stored, last_update=70)))
    other = replace(stored, row=((2, 65535),))
    assert "holds other weights" in next(find_chain_faults([row], other))


def test_tables_that_are_not_proved_are_explained() -> None:
    text = (ROOT / "docs" / "spec" / "journal.md").read_text("utf-8")
    assert [name for name in UNPROVEN if f"| `{name}` |" not in text] == []


def test_a_report_goes_where_it_can(tmp_path: Path) -> None:
    for bad in (tmp_path / "report.txt", tmp_path / "missing" / "report.html"):
        with pytest.raises(WeighbeamError) as refused:
            check_report_file(bad)
        assert refused.value.code == "bad_report"
    save_report(ProofSummary(), tmp_path / "report.json")
    assert '"sound": true' in (tmp_path / "report.json").read_text("utf-8")
