"""`weighbeam demo --llm`: a model is looked for first, answers as a guest, and nothing is claimed of it."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from fastapi import FastAPI, Response
from rich.console import Console

from command import weighbeam as run
from network.loopback import free_port, serve_app
from weighbeam.cli.run import demo_tables
from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import MINERS, list_miners
from weighbeam.demo.language_model import open_language_model
from weighbeam.demo.outcome import find_failures

pytest.importorskip("openai")


@contextmanager
def serve_models(status: int = 200) -> Iterator[str]:
    """An endpoint that lists its models, or does not."""
    app = FastAPI()

    @app.get("/v1/models")
    def models() -> Response:
        return Response('{"object": "list", "data": []}', status)

    with serve_app(app) as endpoint:
        yield f"http://{endpoint}/v1"


def test_a_model_that_is_there_becomes_the_narrator() -> None:
    with serve_models() as url:
        assert open_language_model(f"openai:m@{url}").id == f"openai:m@{url}"


@pytest.mark.parametrize("status", [401, 404, 500])
def test_an_endpoint_without_models_is_refused(status: int) -> None:
    with serve_models(status) as url, pytest.raises(WeighbeamError, match=f"no_llm.*answered {status}"):
        open_language_model(f"openai:m@{url}")


@pytest.mark.parametrize("given", ["m", "openai:m", "openai:@http://127.0.0.1:1/v1", "openai:m@ftp://host/v1"])
def test_what_names_no_model_and_address_is_refused(given: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_config"):
        open_language_model(given)


def test_without_a_model_the_demo_does_not_start() -> None:
    done = run("demo", "--llm", f"openai:m@http://127.0.0.1:{free_port()}/v1")
    assert done.returncode == 2
    assert "no_llm" in done.stderr
    assert "make demo LLM=1" in done.stderr
    assert "a subnet on this machine" not in done.stderr


def test_the_guest_comes_last_and_answers_one_mechanism() -> None:
    assert list_miners() == MINERS
    *others, guest = list_miners("openai:m@http://127.0.0.1:1/v1")
    assert tuple(others) == MINERS
    assert (guest.role, list(guest.acts)) == ("guest", ["inference"])
    assert guest.hotkey.address not in {part.hotkey.address for part in MINERS}


def make_row(name: str, role: str, incentive: float) -> dict[str, object]:
    return {"name": name, "role": role, "incentive": incentive, "caught": False, "late": 0, "valid": 1, "rounds": 1}


def test_nothing_is_claimed_of_a_guest() -> None:
    miners = [make_row("voice-1", "honest", 0.9), make_row("model", "guest", 0.0)]
    part = {"miners": miners, "validators": [], "burn": None}
    assert find_failures({"mechanisms": {"inference": part}, "replay": {"faults": []}}) == []
    assert demo_tables._sum_up(part).endswith("; a guest 0.0%")


def test_refused_narratives_are_counted_and_markup_is_text() -> None:
    console = Console(record=True, width=100)
    told = [
        {"round": "r2", "used": False, "fault": "no_consensus_score", "text": "Two [red]miners[/] were asked."},
        {"round": "r1", "used": True, "fault": None, "text": "Told."},
    ]
    demo_tables.show_narratives(console, told)
    shown = console.export_text()
    assert "narratives by the language model: 1 of 2; refused for no_consensus_score" in shown
    assert "Two [red]miners[/] were asked." in shown
