"""`weighbeam demo`: run a whole subnet on this machine, from registration to a replayed journal."""

import logging
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.options import LogJson, LogLevel, start_logs
from weighbeam.cli.common.progress import show_waiting
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, name_program, print_json
from weighbeam.cli.run.demo_story import DemoStory, open_story

if TYPE_CHECKING:
    from weighbeam.cli.run.demo_summary import DemoFiles
    from weighbeam.demo.subnet import DemoStep, DemoSubnet
    from weighbeam.senses.ports.protocols import Narrator


def demo(
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Rounds of each mechanism.")] = 5,
    folder: Annotated[Path | None, typer.Option(help="Keep chain and journals here (a new folder).")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Only write the chain and everybody's settings here, to run them one by one.")
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option("--llm", metavar="openai:MODEL@URL", help="Let a language model answer and narrate, too."),
    ] = None,
    stays: Annotated[bool, typer.Option("--stay", help="Keep the dashboard open at the end, until Ctrl-C.")] = False,
    details: Annotated[bool, typer.Option("--details", help="Print every miner's scores and reasons, too.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
    log_json: LogJson = False,
    log_level: LogLevel = None,
) -> None:
    """Run a whole subnet on this machine.

    Four mechanisms, fifteen miners and two validators: it shows who is paid and which tricks are stopped, and proves
    every number. Exit 1 if a claim does not come true.
    """
    if write is not None:
        _save_subnet(write)
        return
    start_logs(None, log_json, log_level, "ERROR")
    import asyncio
    import tempfile

    from weighbeam.cli.run.demo_summary import DemoFiles
    from weighbeam.demo.dashboard import find_port, name_address
    from weighbeam.demo.outcome import conclude, list_narratives
    from weighbeam.demo.subnet import open_subnet

    narrator = None if llm is None else _open_language_model(llm)
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        place, port = folder or Path(scratch) / "subnet", find_port()
        story = stack.enter_context(open_story(as_json))
        if stays:
            story.tell(f"dashboard: {name_address(port)} from the first round on, until Ctrl-C")
        story.tell("a subnet on this machine: a chain, 2 validators, 15 miners, 4 mechanisms")
        story.begin("starting chain, miners and validators")
        subnet = stack.enter_context(open_subnet(place, llm))
        port = asyncio.run(_play(subnet, rounds, story, port, stays))
        story.begin("computing every journal entry again")
        result = asyncio.run(conclude(subnet))
        told = "ROUND"
        if folder is not None or narrator is not None or stays:
            story.begin("drawing heatmaps and writing what happened")
            told = asyncio.run(_deliver_rounds(subnet, narrator))
        if narrator is not None:
            result["narratives"] = list_narratives(subnet, narrator)
        story.end()
        files = DemoFiles(place, told, folder is None) if stays or folder is not None else None
        _show(result, as_json, details, files)
        if stays:
            _stay(subnet, port)
    if result["failures"]:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _show(result: dict[str, Any], as_json: bool, details: bool, files: "DemoFiles | None") -> None:
    from weighbeam.cli.run.demo_tables import save_details

    program = name_program()
    if files is not None:
        save_details(result, program, files)
    if as_json:
        print_json(result)
        return
    from rich.console import Console

    from weighbeam.cli.run.demo_summary import show_summary
    from weighbeam.cli.run.demo_tables import show_details, show_narratives

    console = Console()
    if details:
        show_details(console, result)
    show_narratives(console, result.get("narratives", []))
    show_summary(console, result, program, files)


def _stay(subnet: "DemoSubnet", port: int) -> None:
    from weighbeam.demo.dashboard import stay

    stay(subnet, port, lambda address: typer.echo(f"dashboard: {address} stays open until Ctrl-C", err=True))


def _save_subnet(folder: Path) -> None:
    from weighbeam.demo.subnet_files import save_subnet

    with show_waiting("writing a chain and settings"):
        files = save_subnet(folder)
    typer.echo(f"wrote a chain and {len(files)} settings into {folder}; start as many as you like, each by itself:")
    for path in (files[0], files[2], files[3], files[4]):
        typer.echo(f"  {name_program()} run {'validator' if path == files[0] else 'miner'} --config {path}")


def _open_language_model(given: str) -> "Narrator":
    from weighbeam.demo.language_model import open_language_model

    return open_language_model(given)


async def _deliver_rounds(subnet: "DemoSubnet", narrator: "Narrator | None") -> str:
    from weighbeam.demo.outcome import deliver_rounds

    logging.getLogger("weighbeam").setLevel(logging.CRITICAL)
    return await deliver_rounds(subnet, narrator)


async def _play(subnet: "DemoSubnet", rounds: int, story: DemoStory, port: int, stays: bool) -> int:
    """Gives the port that the dashboard was on."""
    from weighbeam.demo.dashboard import name_address, open_dashboard
    from weighbeam.demo.subnet import run_subnet

    async with open_dashboard(subnet, port) as bound:
        if not stays or bound != port:
            story.tell(f"dashboard: {name_address(bound)} while this runs; --stay keeps it open")
        story.begin(f"round 1 of {rounds}")
        done = 0
        async for step in run_subnet(subnet, rounds):
            done += 1
            story.follow(step, _name_next(step, done, rounds))
    return bound


def _name_next(step: "DemoStep", done: int, rounds: int) -> str:
    if step.kind == "weigh-in":
        return "waiting for the chain to pay"
    return f"round {done + 1} of {rounds}" if done < rounds else "waiting for the chain, then the weigh-in"
