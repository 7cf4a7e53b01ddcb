"""`weighbeam ask`: put an organic question to a running validator, and wait for the best valid answer."""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from weighbeam.cli.settings import AsJson, ConfigOption, open_settings
from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_printable, print_json
from weighbeam.core.errors import WeighbeamError

if TYPE_CHECKING:
    from weighbeam.mechanisms.contract import Mechanism, Params

POLL_SECONDS = 0.3


def ask(
    file: Annotated[
        Path | None, typer.Argument(help="A JSON object (the task's body), or a text: the document.")
    ] = None,
    request: Annotated[str | None, typer.Option("--id", help="Wait for a request made before, instead.")] = None,
    mechanism: Annotated[str, typer.Option(help="Which mechanism answers.")] = "chunking",
    wanted: Annotated[list[str] | None, typer.Option(help="A hotkey that must be asked; may be repeated.")] = None,
    unranked: Annotated[bool, typer.Option("--unranked", help="The round changes no standing.")] = False,
    priority: Annotated[
        Literal["low", "normal", "high"], typer.Option(help="Before or after others who wait.")
    ] = "normal",
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the answer; 0 not to.")] = 120.0,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Ask the miners something; the validator of the same settings plays it between its own rounds."""
    from weighbeam.engine.line_up import PRIORITIES, Terms
    from weighbeam.engine.organic import enqueue, find_request
    from weighbeam.mechanisms.make_params import make_params
    from weighbeam.mechanisms.registry import load_mechanism
    from weighbeam.operate.build import find_section, open_store
    from weighbeam.operate.chains import find_hotkeys, open_clock
    from weighbeam.operate.identity import open_hotkey

    loaded = open_settings(config)
    clock, loading = open_clock(loaded), load_mechanism(mechanism)
    store = open_store(loaded)
    if request is None and file is None:
        raise WeighbeamError("bad_usage", "neither a file nor --id is given", "name what to ask")
    params = make_params(loading, find_section(loaded, mechanism).params)
    if file is not None:
        body, hotkeys = _read_body(file, loading, params), tuple(wanted or ())
        find_hotkeys(loaded, hotkeys, lambda: open_hotkey(loaded))
        terms = Terms(hotkeys, not unranked, PRIORITIES[priority])
        request_id = enqueue(store, loading, params, body, clock.now(), terms)
    else:
        request_id = str(request)
    if wait and not as_json:
        typer.echo(f"{request_id}: waiting; again with --id {request_id}", err=True)
    deadline = time.monotonic() + wait
    found = find_request(store, request_id)
    while found.state in ("waiting", "taken") and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
        found = find_request(store, request_id)
    _show({"id": request_id, "state": found.state, "result": found.result}, as_json)
    if wait and found.state != "done":
        raise typer.Exit(EXIT_CHECK_FAILED)


def _read_body(file: Path, mechanism: "Mechanism", params: "Params") -> Mapping[str, Any]:
    from weighbeam.engine.read_json import read_json, read_text
    from weighbeam.engine.tasks import MAX_FILE

    if file.suffix.lower() != ".json":
        return mechanism.read_task(params, file.name, read_text(file, MAX_FILE)).body
    body = read_json(file)
    if not isinstance(body, dict):
        raise WeighbeamError("bad_question", f"{file} is not a JSON object", "write the body of a task")
    return body


def _show(outcome: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(outcome)
        return
    result = outcome["result"] or {}
    typer.echo(f"{outcome['id']}: {outcome['state']}")
    if outcome["state"] == "done":
        typer.echo(f"best answer by {result['hotkey']} in {result['seconds']:.3f} s, round {result['round']}")
        for number, chunk in enumerate(result["payload"].get("chunks", []), 1):
            typer.echo(f"{number:>4}  {make_printable(str(chunk), 100)}")
    elif result:
        typer.echo(f"{result['error']}: {make_printable(result['message'])}")
    elif outcome["state"] == "waiting":
        typer.echo("no validator took it yet: is weighbeam validator running with these settings?")
