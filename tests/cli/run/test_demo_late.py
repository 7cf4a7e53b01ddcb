"""A demo on a machine that is late: it says so, plays further rounds, and proves its claims or fails."""

import asyncio
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from weighbeam.cli.main import app
from weighbeam.demo.cast import ASKED
from weighbeam.demo.outcome import conclude, find_failures
from weighbeam.demo.subnet import DemoStep, DemoSubnet, is_void, open_subnet, run_subnet
from weighbeam.engine.journal.journal import CommittedRound

pytestmark = pytest.mark.alone


def make_result(void: int = 0, late: int = 0, valid: int = 2) -> dict[str, Any]:
    """A demo of two rounds in which everything is as claimed, but for what is said."""
    names = {"good": ("honest", 0.7), "other": ("honest", 0.3), "trick": ("hostile", 0.0)}
    miners = [
        {
            "name": name,
            "role": role,
            "about": "",
            "caught": role == "hostile",
            "uid": uid,
            "endpoint": "",
            "rounds": 2,
            "valid": valid if name == "other" else 2,
            "late": late if name == "other" else 0,
            "score": 0.5,
            "reason": "",
            "standing": 0.5,
            "weights": [1, 1],
            "incentive": pay,
        }
        for uid, (name, (role, pay)) in enumerate(names.items())
    ]
    shares = {"weigh_in": "confirmed", "dividends": 0.5, "vtrust": 1.0}
    validators = [{"name": f"validator-{n}", "rounds": 2, "void": void if n == 1 else 0, **shares} for n in (1, 2)]
    part = {"block": 1, "miners": miners, "validators": validators, "burn": None}
    result = {"mechanisms": {"chunking": part}, "replay": {"entries": 1, "equal": True, "faults": []}}
    return {**result, "failures": find_failures(result)}


def test_what_the_machine_was_too_busy_for_is_not_proven() -> None:
    assert make_result()["failures"] == []
    assert make_result(void=1)["failures"] == [], "the other round proves it"
    assert make_result(late=1, valid=1)["failures"] == []
    (void,) = make_result(void=2)["failures"]
    assert void.startswith("chunking: nothing is proven, because all 2 rounds of validator-1 are void; this machine is")
    (late,) = make_result(late=2, valid=0)["failures"]
    assert late.startswith(
        "chunking: nothing is proven, because other had no time to answer in any round; this machine"
    )


@pytest.mark.parametrize(("void", "status"), [(1, 0), (2, 1)])
def test_void_rounds_are_told_and_too_many_are_an_error(
    void: int, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(*_: object, **__: object) -> int:
        return 1

    async def give(_: object) -> dict[str, Any]:
        return make_result(void=void)

    monkeypatch.setattr("weighbeam.demo.subnet.open_subnet", lambda *_: nullcontext())
    monkeypatch.setattr("weighbeam.cli.run.demo._play", play)
    monkeypatch.setattr("weighbeam.demo.outcome.conclude", give)
    done = CliRunner(env={"COLUMNS": "200"}).invoke(app, ["demo"])
    assert done.exit_code == status
    assert f"{void} of 4 rounds of chunking are void: this machine was late" in " ".join(done.output.split())
    assert ("nothing is proven" in done.output) == bool(status)


async def stall_asking(subnet: DemoSubnet) -> None:
    """Keep the validators' event loop busy while a round is played."""
    runners = [runner for name in ASKED for runner in subnet.runners[name]]
    while True:
        await asyncio.sleep(0.1)
        if any(runner.round_context.playing for runner in runners):
            time.sleep(1.0)


async def play_late(subnet: DemoSubnet) -> list[DemoStep]:
    """A demo of one round during which the machine is late."""
    stalling = asyncio.create_task(stall_asking(subnet))
    steps = []
    async for step in run_subnet(subnet, 1):
        stalling.cancel()
        steps.append(step)
    return steps


def test_rounds_that_are_void_are_played_again(tmp_path: Path) -> None:
    with open_subnet(tmp_path / "subnet") as subnet:
        steps = asyncio.run(play_late(subnet))
        result = asyncio.run(conclude(subnet))
    assert (steps[0].kind, steps[0].name) == ("round", "round 1 of 1")
    first = [outcome for name in ASKED for outcome in steps[0].outcomes[name]]
    assert all(isinstance(one, CommittedRound) and is_void(one.scored) for one in first)
    assert (steps[1].kind, steps[1].name) == ("extra", "extra round 1")
    assert set(steps[1].outcomes) == set(ASKED), "nobody was asked for novelty, so no round of it is void"
    assert steps[-1].kind == "weigh-in"
    for name in ASKED:
        for row in result["mechanisms"][name]["validators"]:
            assert 1 <= row["void"] < row["rounds"]
    assert not any("nothing is proven" in failure for failure in result["failures"])
    assert result["replay"]["equal"]
