"""Organic requests: before all others, answered by the best valid answer, never lost and never answered twice."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.subnet import HONEST, open_subnet
from postgres import on_sqlite
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.requests.organic import enqueue_request, has_waiting, select_request, take_next
from weighbeam.engine.requests.queue import RequestTerms
from weighbeam.engine.rounds.recovery import recover_requests
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.replies import verify_proof
from weighbeam.senses.local import LocalSenses

CHUNKING, PARAMS = Chunking(), ChunkingParams()
BODY = {"document": generate_document("organic", 4000).text, "chunk_size": 1200}


@pytest.fixture(scope="module")
def subnet(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory):
    with open_subnet(tmp_path_factory.mktemp("subnet"), senses) as made:
        yield made


@pytest.fixture(autouse=True)
def _store(subnet, make_store_url: Callable[[], str]) -> None:
    subnet.make_url = make_store_url


def put(runner, **more) -> str:
    return enqueue_request(
        runner.round_context.journal.store, CHUNKING, PARAMS, BODY, time.time(), RequestTerms(**more)
    )


def test_the_asker_gets_the_best_valid_answer_with_its_proof(subnet) -> None:
    runner = subnet.runner(only=(*HONEST, "dropper", "silent", "copycat"))
    request = put(runner)
    asyncio.run(runner.play_round())
    done = select_request(runner.round_context.journal.store, request)
    assert done.state == "done"
    result = done.result
    assert subnet.names[result["hotkey"]] in HONEST
    assert " ".join(result["payload"]["chunks"]).split() == BODY["document"].split()
    assert result["score"]["status"] == "valid"
    assert result["score"]["spans"]
    assert verify_proof(result["proof"], result["hotkey"], subnet.validator.address)


@on_sqlite
def test_it_goes_before_synthetic_tasks_and_oldest_first(subnet) -> None:
    runner = subnet.runner()
    first, second = put(runner), put(runner)
    asyncio.run(runner.play_round())
    assert select_request(runner.round_context.journal.store, first).state == "done"
    assert select_request(runner.round_context.journal.store, second).state == "waiting"
    assert has_waiting(runner.round_context.journal.store, "chunking")


@on_sqlite
def test_a_wanted_miner_is_always_asked(subnet) -> None:
    hotkey = next(hotkey for hotkey, name in subnet.names.items() if name == "sentences")
    runner = subnet.runner(group_size=2)
    put(runner, wanted=(hotkey,))
    done = asyncio.run(runner.play_round())
    assert hotkey in {score.hotkey for score in done.scored.scores}


@on_sqlite
def test_an_unranked_one_changes_no_standing(subnet) -> None:
    runner = subnet.runner()
    asyncio.run(runner.play_round())
    before = runner.round_context.journal.standings("chunking")
    put(runner, ranked=False)
    asyncio.run(runner.play_round())
    assert runner.round_context.journal.standings("chunking") == before


@on_sqlite
def test_without_a_valid_answer_it_fails_and_says_so(subnet) -> None:
    runner = subnet.runner(only=("dropper", "silent"))
    request = put(runner)
    asyncio.run(runner.play_round())
    done = select_request(runner.round_context.journal.store, request)
    assert (done.state, done.result["error"]) == ("failed", "no_valid_answer")


@on_sqlite
def test_nobody_there_fails_it_too(subnet) -> None:
    runner = subnet.runner(only=())
    request = put(runner)
    with pytest.raises(WeighbeamError, match="too_few_miners"):
        asyncio.run(runner.play_round())
    assert select_request(runner.round_context.journal.store, request).result["error"] == "too_few_miners"


@pytest.mark.parametrize("body", [{}, {"document": ""}, {"document": 7}, {"document": "words", "chunk_size": 0}])
def test_what_cannot_be_asked_is_refused_before_it_waits(subnet, body: dict[str, object]) -> None:
    runner = subnet.runner()
    with pytest.raises(WeighbeamError):
        enqueue_request(runner.round_context.journal.store, CHUNKING, PARAMS, body, 1.0)
    assert not has_waiting(runner.round_context.journal.store, "chunking")


def test_a_crash_puts_it_back_or_answers_it_from_its_round(subnet, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = subnet.runner()
    request = put(runner)
    take_next(runner.round_context.journal.store, "chunking", "never-played", 0.0)
    assert recover_requests(runner.round_context.journal, CHUNKING) == [request]
    assert select_request(runner.round_context.journal.store, request).state == "waiting"

    def die(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "commit", die)
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(runner.play_round())
    monkeypatch.undo()
    assert select_request(runner.round_context.journal.store, request).state == "taken"
    runner.recover()
    assert select_request(runner.round_context.journal.store, request).state == "done"
    assert len(list_rounds(runner.round_context.journal.store).items) == 1


def test_the_queue_has_an_end(subnet, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weighbeam.engine.requests.queue.MAX_WAITING", 2)
    runner = subnet.runner()
    put(runner)
    put(runner)
    with pytest.raises(WeighbeamError, match="queue_full"):
        put(runner)


@on_sqlite
def test_tasks_from_a_folder_come_once_each_before_any_repeats(subnet, tmp_path: Path) -> None:
    from weighbeam.engine.alerts.alerts import Alerts
    from weighbeam.engine.rounds.tasks import DocumentTasks, FolderDocuments

    for number in range(5):
        (tmp_path / f"{number}.md").write_text(generate_document(number, 800).text, "utf-8")
    (tmp_path / "empty.txt").write_text(" ", "utf-8")
    (tmp_path / "latin.txt").write_bytes(b"caf\xe9")
    (tmp_path / "picture.png").write_bytes(b"x")
    store = subnet.runner().round_context.journal.store
    tasks = [
        DocumentTasks(CHUNKING, PARAMS, FolderDocuments(tmp_path), store, Alerts(store, time.time))("seed").id
        for _ in range(10)
    ]
    assert len(set(tasks[:5])) == 5
    assert set(tasks[:5]) == set(tasks[5:])


@on_sqlite
def test_a_folder_without_tasks_is_refused(subnet, tmp_path: Path) -> None:
    from weighbeam.engine.alerts.alerts import Alerts
    from weighbeam.engine.rounds.tasks import DocumentTasks, FolderDocuments

    store = subnet.runner().round_context.journal.store
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(WeighbeamError, match="no_tasks"):
            DocumentTasks(CHUNKING, PARAMS, FolderDocuments(folder), store, Alerts(store, time.time)).check()


@on_sqlite
def test_a_round_of_our_own_leaves_requests_waiting(subnet) -> None:
    runner = subnet.runner()
    request = put(runner)
    asyncio.run(runner.play_round("own"))
    assert select_request(runner.round_context.journal.store, request).state == "waiting"
    asyncio.run(runner.play_round())
    assert select_request(runner.round_context.journal.store, request).state == "done"
