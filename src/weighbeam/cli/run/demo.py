"""`weighbeam demo`: run a whole subnet on this machine, from registration to a replayed journal."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.common.options import LogJson, LogLevel, start_logs
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, name_program, print_json

if TYPE_CHECKING:
    from weighbeam.demo.subnet import DemoSubnet, Step
    from weighbeam.engine.journal.journal import CommittedRound
    from weighbeam.engine.weights.weigh_in import WeighInResult
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
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
    log_json: LogJson = False,
    log_level: LogLevel = None,
) -> None:
    """Run four mechanisms with fifteen miners and two validators; show who is paid and prove every number."""
    if write is not None:
        _save_subnet(write)
        return
    start_logs(None, log_json, log_level, "WARNING")
    import asyncio
    import tempfile

    from weighbeam.demo.outcome import conclude, list_narratives
    from weighbeam.demo.subnet import open_subnet

    narrator = None if llm is None else _open_language_model(llm)

    with tempfile.TemporaryDirectory() as scratch:
        place = folder or Path(scratch) / "subnet"
        if not as_json:
            typer.echo("starting a local chain with 4 mechanisms, 15 miners and 2 validators", err=True)
        with open_subnet(place, llm) as subnet:
            port = asyncio.run(_play(subnet, rounds, quiet=as_json))
            result = asyncio.run(conclude(subnet))
            delivers = folder is not None or narrator is not None
            told = asyncio.run(_deliver_rounds(subnet, as_json, narrator)) if delivers else None
            if narrator is not None:
                result["narratives"] = list_narratives(subnet, narrator)
            _show(result, as_json, None if folder is None else place, told)
            if stays:
                _stay(subnet, port)
    if result["failures"]:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _show(result: dict[str, Any], as_json: bool, kept: Path | None, told: str | None) -> None:
    if as_json:
        print_json(result)
        return
    from weighbeam.cli.run.demo_tables import show_result

    show_result(result, kept, told)


def _stay(subnet: "DemoSubnet", port: int) -> None:
    from weighbeam.demo.dashboard import stay

    stay(subnet, port, lambda address: typer.echo(f"dashboard: {address} until Ctrl-C", err=True))


def _save_subnet(folder: Path) -> None:
    from weighbeam.demo.subnet_files import save_subnet

    files = save_subnet(folder)
    typer.echo(f"wrote a chain and {len(files)} settings into {folder}; start as many as you like, each by itself:")
    for path in (files[0], files[2], files[3], files[4]):
        typer.echo(f"  {name_program()} {'validator' if path == files[0] else 'miner'} --config {path}")


def _open_language_model(given: str) -> "Narrator":
    from weighbeam.demo.language_model import open_language_model

    return open_language_model(given)


async def _deliver_rounds(subnet: "DemoSubnet", quiet: bool, narrator: "Narrator | None") -> str:
    from weighbeam.demo.outcome import deliver_rounds

    logging.getLogger("weighbeam").setLevel(logging.CRITICAL)
    if not quiet:
        typer.echo("  drawing and telling the rounds of inference", err=True)
    return await deliver_rounds(subnet, narrator)


async def _play(subnet: "DemoSubnet", rounds: int, quiet: bool) -> int:
    """Gives the port that the dashboard was on."""
    from weighbeam.demo.dashboard import name_address, open_dashboard
    from weighbeam.demo.subnet import run_subnet

    async with open_dashboard(subnet) as port:
        if not quiet:
            typer.echo(f"  dashboard: {name_address(port)} while this runs", err=True)
        async for what, step in run_subnet(subnet, rounds):
            if not quiet:
                typer.echo(f"  {what}: {_summarise(step)}", err=True)
    return port


def _summarise(step: "Step") -> str:
    """By mechanism, what came of it for each validator; who had nothing to do is left out, unless nobody had."""
    named = {name: [_name_outcome(one) for one in outcomes if one is not None] for name, outcomes in step.items()}
    return "; ".join(f"{name} {' and '.join(told) or 'nothing new'}" for name, told in named.items())


def _name_outcome(outcome: "CommittedRound | WeighInResult") -> str:
    from weighbeam.demo.subnet import is_void
    from weighbeam.engine.journal.journal import CommittedRound

    if isinstance(outcome, CommittedRound):
        if is_void(outcome.scored):
            return "void"
        valid = sum(score.status == "valid" for score in outcome.scored.scores)
        return f"{valid} of {len(outcome.scored.scores)}"
    return outcome.submission.state if outcome.submission else f"skipped ({outcome.decision.reason})"
