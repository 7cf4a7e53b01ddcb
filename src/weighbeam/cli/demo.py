"""`weighbeam demo`: a whole subnet on this machine, from registration to paid miners and a replayed journal."""

import asyncio
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weighbeam.cli.shell import EXIT_CHECK_FAILED, name_program, print_json

CHARGES = {"size_penalty": "too long", "qty_penalty": "too many", "time_penalty": "too late"}

if TYPE_CHECKING:
    from weighbeam.demo.subnet import Subnet


def demo(
    rounds: Annotated[int, typer.Option(min=1, max=100, help="Rounds each validator plays.")] = 5,
    folder: Annotated[Path | None, typer.Option(help="Keep chain and journals here (a new folder).")] = None,
    write: Annotated[
        Path | None, typer.Option(help="Only write the chain and everybody's settings here, to run them one by one.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")] = False,
) -> None:
    """Run a chain, fifteen miners and two validators; show who is paid and prove every number."""
    if write is not None:
        _write(write)
        return
    from weighbeam.demo.subnet import open_subnet

    with tempfile.TemporaryDirectory() as scratch:
        place = folder or Path(scratch) / "subnet"
        if not as_json:
            typer.echo("starting a local chain, 15 miners and 2 validators", err=True)
        with open_subnet(place) as subnet:
            asyncio.run(_play(subnet, rounds, quiet=as_json))
            result = asyncio.run(_conclude(subnet))
    if as_json:
        print_json(result)
    else:
        from weighbeam.cli.show_demo import show_result

        show_result(result, None if folder is None else place)
    if not result["replay"]["equal"]:
        raise typer.Exit(EXIT_CHECK_FAILED)


def _write(folder: Path) -> None:
    from weighbeam.demo.write_settings import write_subnet

    files = write_subnet(folder)
    typer.echo(f"wrote a chain and {len(files)} settings into {folder}; start as many as you like, each by itself:")
    for path in (files[0], files[2], files[3], files[4]):
        typer.echo(f"  {name_program()} {'validator' if path == files[0] else 'miner'} --config {path}")


async def _play(subnet: "Subnet", rounds: int, quiet: bool) -> None:
    from weighbeam.demo.subnet import run_subnet

    steps = run_subnet(subnet, rounds)
    number = 0
    async for outcomes in steps:
        number += 1
        if quiet:
            continue
        what = f"round {number} of {rounds}" if number <= rounds else "weigh-in, then waiting for the epoch"
        typer.echo(f"  {what}: {_summarise(outcomes)}", err=True)


def _summarise(outcomes: list[Any]) -> str:
    from weighbeam.engine.journal import Committed

    said = []
    for number, outcome in enumerate(outcomes, 1):
        if isinstance(outcome, Committed):
            valid = sum(score.status == "valid" for score in outcome.scored.scores)
            said.append(f"validator-{number} got {valid} valid of {len(outcome.scored.scores)}")
        elif outcome is not None:
            state = outcome.submission.state if outcome.submission else outcome.decision.reason
            said.append(f"validator-{number}: weights {state}")
    return "; ".join(said)


async def _conclude(subnet: "Subnet") -> dict[str, Any]:
    """Standings, weights and pay by miner, and whether the journals replay."""
    from weighbeam.engine.replay import replay
    from weighbeam.mechanisms.registry import load_mechanism

    graph = await subnet.metagraph()
    first = subnet.validators[0]
    standings = {s.hotkey: s.value for s in first.bench.journal.standings("chunking")}
    stored = [dict((await v.scale.chain.stored(v.scale.own_hotkey)).row) for v in subnet.validators]
    reasons = _last_reasons(subnet)
    replayed = [list(replay(v.bench.journal.store, load_mechanism)) for v in subnet.validators]
    faults = [f"{r.ref}: {r.fault}" for results in replayed for r in results if r.fault]
    miners = [
        {
            "name": subnet.names[neuron.hotkey].name,
            "role": subnet.names[neuron.hotkey].role,
            "about": subnet.names[neuron.hotkey].about,
            "uid": neuron.uid,
            "endpoint": neuron.endpoint,
            "standing": standings.get(neuron.hotkey),
            "reason": reasons.get(neuron.hotkey),
            "weights": [row.get(neuron.uid, 0) for row in stored],
            "incentive": neuron.incentive / 65535,
        }
        for neuron in graph.neurons
        if subnet.names[neuron.hotkey].role != "validator"
    ]
    validators = [
        {"name": subnet.names[n.hotkey].name, "dividends": n.dividends / 65535, "vtrust": n.validator_trust / 65535}
        for n in graph.neurons
        if subnet.names[n.hotkey].role == "validator"
    ]
    entries = sum(len(results) for results in replayed)
    return {
        "block": graph.block,
        "miners": miners,
        "validators": validators,
        "replay": {"entries": entries, "equal": not faults, "faults": faults},
    }


def _last_reasons(subnet: "Subnet") -> dict[str, str]:
    """Why each miner failed most recently, or what its answer was charged for most."""
    from weighbeam.engine.journal import read_round
    from weighbeam.engine.read_journal import list_rounds

    bench = subnet.validators[0].bench
    reasons: dict[str, str] = {}
    for line in reversed(list_rounds(bench.journal.store, 100)):
        scored = read_round(bench.journal.store, line.id, bench.mechanism).scored
        reasons.update({score.hotkey: ", ".join(score.reasons) or _name_charge(score.parts) for score in scored.scores})
    return reasons


def _name_charge(parts: Mapping[str, Any] | None) -> str:
    charges = {name: (parts or {}).get(part, 0.0) for part, name in CHARGES.items()}
    worst = max(charges, key=lambda name: charges[name])
    return worst if charges[worst] > 0 else ""
