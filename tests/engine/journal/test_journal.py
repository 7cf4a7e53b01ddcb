"""The journal: durable before scoring, once only, and any changed byte is found and named."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import delete, select, text, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.zstd import compress_each
from weighbeam.engine.journal import encoding
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.journal.replay import ReplayedEntry, replay
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Observation
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.local import LocalSenses
from weighbeam.store.blobs import select_blob
from weighbeam.store.database import Store
from weighbeam.store.tables import blobs, rounds

CHUNKING, PARAMS = Chunking(), ChunkingParams()


def facts(number: int, observation: Observation, departed: tuple[str, ...] = ()) -> RoundFacts:
    params_hash = hash_params(CHUNKING, PARAMS, observation.facts["senses"])
    params = PARAMS.model_dump(mode="json")
    return RoundFacts(
        f"round-{number}", "chunking", params, params_hash, f"seed-{number}", number, 1000.0 + number, departed
    )


@pytest.fixture(scope="module")
def observed(senses: LocalSenses):
    return [(asked, CHUNKING.observe(PARAMS, asked, senses)) for asked in CHUNKING.examples()]


@pytest.fixture
def journal(store_url: str) -> Journal:
    return Journal(Store(store_url))


def fill(journal: Journal, observed, rounds: int = 4) -> None:
    for number in range(rounds):
        asked, observation = observed[number % len(observed)]
        journal.record(facts(number, observation), asked, observation)
        journal.commit(f"round-{number}", CHUNKING)


def faults(journal: Journal) -> list[ReplayedEntry]:
    return [result for result in replay(journal.store, load_mechanism) if result.fault is not None]


def test_rounds_are_scored_from_what_was_recorded_and_replay_agrees(journal: Journal, observed) -> None:
    fill(journal, observed)
    live = CHUNKING.score(PARAMS, observed[0][1])
    with journal.store.read() as connection:
        rows = connection.execute(text("SELECT hotkey, value FROM scores WHERE round = 'round-0'")).all()
    assert dict(map(tuple, rows)) == {score.hotkey: score.value for score in live.scores}
    assert faults(journal) == []
    standings = {standing.hotkey: standing.value for standing in journal.standings("chunking")}
    assert standings["paragraphs"] < standings["whole"]
    assert standings["our-fault"] is None


def test_each_entry_names_the_one_before(journal: Journal, observed) -> None:
    fill(journal, observed)
    with journal.store.read() as connection:
        rows = connection.execute(text("SELECT previous, hash FROM entries ORDER BY sequence")).all()
    assert [row.previous for row in rows[1:]] == [row.hash for row in rows[:-1]]
    assert len({row.hash for row in rows}) == 4


def test_a_round_counts_once(journal: Journal, observed) -> None:
    fill(journal, observed, 1)
    with pytest.raises(WeighbeamError, match="not_open"):
        journal.commit("round-0", CHUNKING)
    with pytest.raises(WeighbeamError, match="not_open"):
        journal.commit("nothing", CHUNKING)
    asked, observation = observed[0]
    with pytest.raises(Exception, match=r"(?i)unique"):
        journal.record(facts(0, observation), asked, observation)
    assert faults(journal) == []


def test_the_departed_inherit_nothing_and_leave_nothing(journal: Journal, observed) -> None:
    fill(journal, observed, 1)
    asked, observation = observed[1]
    journal.record(facts(1, observation, departed=("paragraphs",)), asked, observation)
    journal.commit("round-1", CHUNKING)
    assert "paragraphs" not in {standing.hotkey for standing in journal.standings("chunking")}
    assert faults(journal) == []


OTHER = "(SELECT data FROM blobs JOIN entries ON digest = body WHERE sequence = 1)"


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("UPDATE scores SET value = value + 1e-12 WHERE round = 'round-2' AND hotkey = 'late'", "scores table"),
        ("UPDATE scores SET value = 0.5 WHERE round = 'round-2' AND hotkey = 'late'", "scores table"),
        ("UPDATE scores SET reasons = '[\"x\"]' WHERE round = 'round-2' AND hotkey = 'late'", "scores table"),
        ("UPDATE evaluations SET success = (1 = 0) WHERE round = 'round-0' AND hotkey = 'late'", "evaluations table"),
        ("DELETE FROM scores WHERE round = 'round-0' AND hotkey = 'late'", "scores table"),
        ("UPDATE standings SET value = value + 0.001 WHERE hotkey = 'late'", "standings table"),
        ("DELETE FROM standings WHERE hotkey = 'late'", "standings table"),
        ("UPDATE rounds SET block = 99 WHERE id = 'round-1'", "rounds table"),
        ("UPDATE rounds SET at = 5 WHERE id = 'round-1'", "rounds table"),
        ("UPDATE entries SET hash = 'x' WHERE sequence = 2", "hash"),
        ("UPDATE entries SET ref = 'other' WHERE sequence = 2", "hash"),
        ("UPDATE entries SET body = (SELECT body FROM entries WHERE sequence = 1) WHERE sequence = 3", "hash"),
        ("DELETE FROM entries WHERE sequence = 2", "missing"),
        (f"UPDATE blobs SET data = {OTHER} WHERE digest IN (SELECT body FROM rounds)", "blob_damaged"),
        ("DELETE FROM blobs WHERE digest IN (SELECT body FROM entries WHERE sequence = 3)", "blob_missing"),
    ],
)
def test_any_change_is_found_and_named(journal: Journal, observed, damage: str, told: str) -> None:
    fill(journal, observed)
    with journal.store.write() as connection:
        connection.execute(text(damage))
    found = faults(journal)
    assert any(told in result.fault for result in found), found


@pytest.mark.parametrize("together", [True, False])
def test_every_blob_of_every_round_is_checked(
    journal: Journal, observed, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One flipped bit in any stored content, those for people only among them; which may be deleted."""
    if not together:
        monkeypatch.setattr(encoding, "MAX_TEXTS", 0)
    fill(journal, observed, 2)
    with journal.store.read() as connection:
        every = connection.execute(text("SELECT digest FROM blobs")).scalars().all()
        bodies = [json.loads(select_blob(connection, one)) for one in connection.scalars(select(rounds.c.body))]
    texts = {body["texts"] for body in bodies if "texts" in body}
    assert len(texts) == (2 if together else 0)
    texts = texts or {digest for _, seen in observed for digest in seen.texts} & set(every)
    for number, (_, observation) in enumerate(observed[:2]):
        kept = select_round(journal.store, f"round-{number}", CHUNKING, texts=True).observation.texts
        assert observation.texts.items() <= kept.items()
    assert len(set(every) - texts) >= 10
    for digest in every:
        with journal.store.write() as connection:
            data = connection.execute(text("SELECT data FROM blobs WHERE digest = :d"), {"d": digest}).scalar_one()
            middle = len(data) // 2
            changed = data[:middle] + bytes([data[middle] ^ 4]) + data[middle + 1 :]
            connection.execute(text("UPDATE blobs SET data = :x WHERE digest = :d"), {"x": changed, "d": digest})
        assert faults(journal), digest
        with journal.store.write() as connection:
            connection.execute(text("UPDATE blobs SET data = :x WHERE digest = :d"), {"x": data, "d": digest})
    assert faults(journal) == []
    with journal.store.write() as connection:
        connection.execute(delete(blobs).where(blobs.c.digest.in_(texts)))
    assert faults(journal) == []
    if together:
        assert not select_round(journal.store, "round-0", CHUNKING, texts=True).observation.texts


def test_texts_that_were_changed_are_named(journal: Journal, observed) -> None:
    """Other texts in their form: the body names the ones there were."""
    fill(journal, observed, 2)
    with journal.store.read() as connection:
        body = json.loads(select_blob(connection, connection.scalar(select(rounds.c.body).order_by(rounds.c.id))))
    forged = encoding.encode_texts(["somebody said this"])
    assert forged is not None
    with journal.store.write() as connection:
        changed = next(compress_each([forged], 3))
        connection.execute(update(blobs).where(blobs.c.digest == body["texts"]).values(data=changed))
    found, *_ = faults(journal)
    assert found.ref == "round-0"
    assert found.fault is not None
    assert found.fault.startswith(f"blob_damaged: content {body['texts'][:16]}")
    with pytest.raises(WeighbeamError, match="blob_damaged"):
        select_round(journal.store, "round-0", CHUNKING, texts=True)


CRASH = """
import os, pickle, signal, sys
from weighbeam.engine.journal import journal as module
from weighbeam.engine.journal.journal import Journal
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.store.database import Store

point, path, given = sys.argv[1:]
journal = Journal(Store(path))
number, facts, asked, observation = pickle.load(open(given, "rb"))

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

if point == "recording":
    module.format_body = die
journal.record(facts, asked, observation)
if point == "recorded":
    die()
if point in ("append_entry", "update_standings", "insert_scores", "insert_evaluations"):
    setattr(module, point, die)
journal.commit(facts.id, Chunking())
if point == "committed":
    die()
"""


POINTS = [
    ("recording", None),
    ("recorded", "observed"),
    ("insert_scores", "observed"),
    ("append_entry", "observed"),
    ("insert_evaluations", "observed"),
    ("update_standings", "observed"),
    ("committed", "scored"),
]


@pytest.mark.parametrize(
    ("make_store_url", "point", "kept"),
    [*(("sqlite", *one) for one in POINTS), *(("postgres", *one) for one in POINTS[::3])],
    indirect=["make_store_url"],
)
def test_killed_at_any_point_nothing_is_lost_or_counted_twice(
    tmp_path: Path, make_store_url: Callable[[], str], observed, point: str, kept: str | None
) -> None:
    import pickle

    place = make_store_url()
    calm, shot = Journal(Store(make_store_url())), Journal(Store(place))
    fill(calm, observed, 2)
    fill(shot, observed, 2)
    asked, observation = observed[0]
    given = tmp_path / "given"
    given.write_bytes(pickle.dumps((2, facts(2, observation), asked, observation)))
    command = [sys.executable, "-c", CRASH, point, place, str(given)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ})
    assert done.returncode == -signal.SIGKILL, done.stderr
    with shot.store.read() as connection:
        state = connection.execute(text("SELECT state FROM rounds WHERE id = 'round-2'")).scalar_one_or_none()
    assert state == kept
    for round_id, mechanism in shot.unfinished():
        shot.commit(round_id, load_mechanism(mechanism))
    if kept is None:
        shot.record(facts(2, observation), asked, observation)
        shot.commit("round-2", CHUNKING)
    calm.record(facts(2, observation), asked, observation)
    calm.commit("round-2", CHUNKING)
    assert faults(shot) == []
    assert _last_hash(shot) == _last_hash(calm)
    assert shot.standings("chunking") == calm.standings("chunking")


def _last_hash(journal: Journal) -> str:
    with journal.store.read() as connection:
        return connection.execute(text("SELECT hash FROM entries ORDER BY sequence DESC")).scalars().first()


def test_a_store_that_cannot_be_opened_says_so(tmp_path: Path) -> None:
    (tmp_path / "junk.db").write_bytes(b"junk" * 5000)
    with pytest.raises(WeighbeamError, match="store_unusable"):
        Store(f"sqlite:///{tmp_path / 'junk.db'}")
    with pytest.raises(WeighbeamError, match="store_unusable"):
        Store("sqlite:////no/such/folder/journal.db")
    with pytest.raises(WeighbeamError, match="bad_store_url"):
        Store("not a url")


def test_hostile_payloads_are_kept_as_they_came(journal: Journal, observed) -> None:
    from dataclasses import replace

    from weighbeam.mechanism.records import Answer

    asked, observation = observed[0]
    evil = Answer("evil", {"chunks": ["\ud800", "\x00", {"deep": [[[]]]}]})
    journal.record(facts(0, observation), replace(asked, answers=(*asked.answers, evil)), observation)
    journal.commit("round-0", CHUNKING)
    assert faults(journal) == []
