"""`weighbeam ask`: put a question to a running validator and wait for the best valid answer."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from weighbeam.cli.common.options import AsJson, ConfigOption, choose_mechanism, open_settings
from weighbeam.cli.common.progress import show_waiting
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_printable, print_json
from weighbeam.cli.score.commands import load_score_command
from weighbeam.core.errors import WeighbeamError

if TYPE_CHECKING:
    from weighbeam.engine.requests.organic import OrganicRequest
    from weighbeam.engine.views.names import NameBook
    from weighbeam.mechanism.base import Mechanism
    from weighbeam.mechanism.params import Params
    from weighbeam.store.database import Store

POLL_SECONDS = 0.3
POLLS_PER_CHECK = 10
MAX_LINE = 100
PENDING = ("waiting", "taken")


def ask(
    file: Annotated[
        Path | None, typer.Argument(help="A JSON object (the task's body), or a text: the document.")
    ] = None,
    request: Annotated[str | None, typer.Option("--id", help="Wait for a request made before, instead.")] = None,
    mechanism: Annotated[str | None, typer.Option(help="Which mechanism answers; else the first by name.")] = None,
    wanted: Annotated[list[str] | None, typer.Option(help="A miner that must be asked: name, uid or hotkey.")] = None,
    unranked: Annotated[bool, typer.Option("--unranked", help="The round changes no standing.")] = False,
    priority: Annotated[
        Literal["low", "normal", "high"], typer.Option(help="Before or after others who wait.")
    ] = "normal",
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the answer; 0 not to.")] = 120.0,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Ask the miners of a running validator.

    The validator of the same settings plays the question between its own rounds.
    """
    from weighbeam.app.chains import check_hotkeys_registered, open_clock
    from weighbeam.app.identity import open_hotkey
    from weighbeam.app.validator.build import find_section, open_store
    from weighbeam.engine.requests.organic import enqueue_request, select_request
    from weighbeam.engine.requests.queue import PRIORITIES, RequestTerms
    from weighbeam.engine.views.names import load_names
    from weighbeam.mechanism.params import make_params
    from weighbeam.mechanism.registry import load_mechanism

    loaded = open_settings(config)
    loading = load_mechanism(choose_mechanism(mechanism, sorted(loaded.settings.mechanisms)))
    clock = open_clock(loaded)
    store = open_store(loaded)
    if request is None and file is None:
        raise WeighbeamError("bad_usage", "neither a file nor --id is given", "name what to ask")
    book = load_names(store, loaded.settings.aliases)
    params = make_params(loading, find_section(loaded, loading.name).given_params)
    if file is not None and wait:
        _require_validator(store, config)
    if file is not None:
        body = _load_body(file, loading, params)
        hotkeys = tuple(book.resolve(one, loading.name) for one in wanted or ())
        check_hotkeys_registered(loaded, hotkeys, lambda: open_hotkey(loaded))
        terms = RequestTerms(hotkeys, not unranked, PRIORITIES[priority])
        request_id = enqueue_request(store, loading, params, body, clock.now(), terms)
    else:
        request_id = str(request)
    found = select_request(store, request_id)
    if wait and found.state in PENDING:
        if not as_json:
            typer.echo(f"asked as {request_id}; if you stop waiting: weighbeam ask --id {request_id}", err=True)
        found = _wait_for_answer(store, request_id, wait, config)
    _show({"id": request_id, "state": found.state, "result": found.result}, loading.name, as_json, book)
    if wait and found.state != "done":
        raise typer.Exit(EXIT_CHECK_FAILED)


def _wait_for_answer(store: "Store", request_id: str, wait: float, config: Path | None) -> "OrganicRequest":
    """The request as it is in the end; an error as soon as nobody is there to answer it."""
    from weighbeam.engine.requests.organic import select_request

    deadline, polls = time.monotonic() + wait, 0
    with show_waiting("waiting for the best answer"):
        while (found := select_request(store, request_id)).state in PENDING and time.monotonic() < deadline:
            if polls % POLLS_PER_CHECK == 0:
                _require_validator(store, config)
            polls += 1
            time.sleep(POLL_SECONDS)
    return found


def _require_validator(store: "Store", config: Path | None) -> None:
    """`no_validator` unless one runs on this store."""
    from weighbeam.engine.support.lock import has_validator

    with store.read() as connection:
        if has_validator(connection, time.time()):
            return
    start = "weighbeam run validator" + (f" --config {config}" if config else "")
    remedy = f"start one: {start}; --wait 0 leaves the question for the next one"
    raise WeighbeamError("no_validator", "no validator runs with these settings, so nobody would answer", remedy)


def _load_body(file: Path, mechanism: "Mechanism", params: "Params") -> Mapping[str, Any]:
    from weighbeam.engine.rounds.tasks import MAX_FILE
    from weighbeam.engine.support.json_files import load_json, load_text

    if file.suffix.lower() != ".json":
        return mechanism.parse_task(params, file.name, load_text(file, MAX_FILE)).body
    body = load_json(file)
    if not isinstance(body, dict):
        raise WeighbeamError("bad_question", f"{file} is not a JSON object", "write the body of a task")
    return body


def has_long_text(value: Any) -> bool:
    """Whether a text in an answer is longer than a line shows.

    >>> has_long_text({"chunks": ["a"]}), has_long_text({"chunks": ["a" * 101]})
    (False, True)
    """
    if isinstance(value, str):
        return len(value) > MAX_LINE
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    return any(has_long_text(one) for one in inner)


def _show(outcome: dict[str, Any], mechanism: str, as_json: bool, book: "NameBook") -> None:
    if as_json:
        print_json(outcome)
        return
    result = outcome["result"] or {}
    typer.echo(f"{outcome['id']}: {outcome['state']}")
    if outcome["state"] == "done":
        who = make_printable(book.describe(result["hotkey"], mechanism), 120)
        typer.echo(f"best answer in {result['seconds']:.3f} s, round {result['round']}, by {who}")
        load_score_command(mechanism).show_answer(result["payload"])
        if has_long_text(result["payload"]):
            typer.echo(f"shortened; all of it: weighbeam ask --id {outcome['id']} --json")
    elif result:
        typer.echo(f"{result['error']}: {make_printable(result['message'])}")
    elif outcome["state"] == "waiting":
        typer.echo("it waits for the next validator with these settings: weighbeam run validator")
