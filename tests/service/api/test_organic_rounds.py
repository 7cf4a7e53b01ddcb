"""Asked over HTTP, answered by real miners: the best valid answer comes back with its proof and its reasons."""

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from engine.subnet import HONEST, open_subnet
from network.loopback import CHARLIE
from service.organic_api import Api, open_api
from weighbeam.core.numbers import format_short
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.network.replies import verify_proof
from weighbeam.senses.local import LocalSenses

BODY = {"document": generate_document("asked", 2500).text, "chunk_size": 900}


@pytest.fixture(scope="module")
def subnet(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with open_subnet(tmp_path_factory.mktemp("subnet"), senses) as made:
        yield made


@pytest.fixture
def runner(subnet: Any) -> MechanismRunner:
    return subnet.runner(only=HONEST)


@pytest.fixture
def api(runner: MechanismRunner) -> Iterator[Api]:
    with open_api(runner.round_context.journal.store) as opened:
        yield opened


def find_hotkey(subnet: Any, wanted: str) -> str:
    return next(hotkey for hotkey, name in subnet.names.items() if name == wanted)


def list_lines(tree: dict[str, Any]) -> list[str]:
    return [tree["text"], *(line for child in tree["children"] for line in list_lines(child))]


def test_the_best_answer_comes_back_with_its_proof_and_its_reasons(
    subnet: Any, runner: MechanismRunner, api: Api
) -> None:
    wanted = find_hotkey(subnet, "sentences")
    put = api.ask({**BODY, "wanted": [wanted, CHARLIE.address]}).json()
    asyncio.run(runner.play_round())
    done = api.look(put["id"])
    assert (done["state"], done["position"]) == ("done", None)
    result = done["result"]
    assert " ".join(result["payload"]["chunks"]).split() == BODY["document"].split()
    assert verify_proof(result["proof"], result["hotkey"], subnet.validator.address)
    assert (result["score"]["status"], result["score"]["hotkey"]) == ("valid", result["hotkey"])
    assert result["round"] == done["round"]
    assert result["not_asked"] == [CHARLIE.address]
    assert any(format_short(result["score"]["reward"], ".12g") in line for line in list_lines(result["explanation"]))
    assert [name for name, told in api.follow(put["id"]) if told == done] == ["done"]
    assert api.get(f"/v1/requests/{put['id']}", "other").status_code == 404


def test_a_stream_follows_a_question_through_its_round(runner: MechanismRunner, api: Api) -> None:
    put = api.ask(BODY).json()
    playing = threading.Thread(target=lambda: asyncio.run(runner.play_round()))
    seen: list[str] = []
    began = time.monotonic()
    for name, told in api.follow(put["id"]):
        if not seen:
            playing.start()
        seen.append(name)
        if name == "done":
            assert told["result"]["hotkey"]
            assert told["result"]["explanation"]["children"]
    playing.join(30)
    assert time.monotonic() - began < 30
    assert seen[0] == "waiting"
    assert seen[-1] == "done"
    assert seen == sorted(seen, key=("waiting", "taken", "observed", "done").index)


def test_a_question_of_a_token_that_may_not_count_changes_no_standing(runner: MechanismRunner, api: Api) -> None:
    asyncio.run(runner.play_round())
    before = runner.round_context.journal.standings("chunking")
    put = api.ask(BODY, "quiet").json()
    asyncio.run(runner.play_round())
    assert api.look(put["id"], "quiet")["state"] == "done"
    assert runner.round_context.journal.standings("chunking") == before
