"""Killed at every named point: a start finishes what was begun, and the day ends as an undisturbed one does."""

import asyncio
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chain.administration import set_parameters
from crash.campaign import PROCESSES, set_up, start_server
from crash.day import OLD_ROUNDS, POINTS, begin, live_through
from crash.worker import ALICE, open_scale
from engine.small_subnet import count_taken, list_faults, list_rounds
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.engine.journal.checkpoint import select_checkpoint
from weighbeam.senses.local import LocalSenses

SECONDS = 120.0
SEALED = ("the submission is called sent", "the chain has taken it", "it is called included")


@pytest.fixture(scope="module")
def mornings(tmp_path_factory: pytest.TempPathFactory, senses: LocalSenses) -> Iterator[dict[bool, Path]]:
    """The state a day begins in: on a chain with open weights and on one that seals them."""
    start_server()
    found = {}
    for sealed in (False, True):
        folder = tmp_path_factory.mktemp("morning")
        set_up(folder, senses)
        with_file(folder, lambda file, sealed=sealed: set_parameters(file, commit_reveal=sealed))
        begin(folder)
        found[sealed] = folder
    return found


def with_file(folder: Path, work: Any) -> Any:
    file = ChainFile(folder / "chain.sqlite")
    try:
        return work(file)
    finally:
        file.close()


def describe(folder: Path) -> dict[str, Any]:
    """All that a day leads to, once what is sealed has been revealed."""
    with_file(folder, lambda file: advance(file, 12))
    scale = open_scale(folder)
    asyncio.run(scale.ledger.settle(scale.chain, ALICE.address))
    with scale.journal.store.read() as connection:
        checkpoint = select_checkpoint(connection)
        answered = connection.exec_driver_sql("SELECT state, result FROM requests").all()
    ended = {
        "rounds": list_rounds(scale.journal.store),
        "standings": scale.journal.standings("chunking"),
        "requests": list(map(tuple, answered)),
        "row": asyncio.run(scale.chain.stored(ALICE.address)).row,
        "taken": with_file(folder, count_taken),
        "last row": scale.ledger.rows()[-1].state,
        "checkpoint": (checkpoint.sequence, checkpoint.hash, checkpoint.reached) if checkpoint else None,
        "faults": list_faults(scale.journal.store),
    }
    scale.journal.store.close()
    return ended


@pytest.fixture(scope="module")
def undisturbed(mornings: dict[bool, Path], tmp_path_factory: pytest.TempPathFactory) -> dict[bool, dict[str, Any]]:
    ended = {}
    for sealed, morning in mornings.items():
        folder = tmp_path_factory.mktemp("calm") / "day"
        shutil.copytree(morning, folder)
        live_through(folder)
        ended[sealed] = describe(folder)
    return ended


@pytest.mark.parametrize("sealed", [False, True])
def test_an_undisturbed_day_does_all_there_is_to_do(undisturbed: dict[bool, dict[str, Any]], sealed: bool) -> None:
    ended = undisturbed[sealed]
    assert ended["rounds"][-1] == "today"
    assert len(ended["rounds"]) < OLD_ROUNDS
    assert ended["checkpoint"] is not None
    assert [state for state, _ in ended["requests"]] == ["done"]
    assert len(ended["row"]) > 3
    assert (ended["taken"], ended["last row"], ended["faults"]) == (1, "confirmed", [])


@pytest.mark.parametrize(
    ("point", "sealed"), [(point, False) for point in POINTS] + [(point, True) for point in SEALED]
)
def test_killed_at_any_point_the_day_ends_as_an_undisturbed_one(
    mornings: dict[bool, Path], undisturbed: dict[bool, dict[str, Any]], tmp_path: Path, point: str, sealed: bool
) -> None:
    folder = tmp_path / "day"
    shutil.copytree(mornings[sealed], folder)
    process = PROCESSES.Process(target=live_through, args=(folder, point))
    process.start()
    process.join(SECONDS)
    assert process.exitcode == -signal.SIGKILL, f"never came to: {point}"
    live_through(folder)
    assert describe(folder) == undisturbed[sealed]


@pytest.mark.parametrize(
    ("point", "left"),
    [
        ("before the plan", []),
        ("the submission is planned", [("failed", "abandoned"), ("confirmed", None)]),
        ("the submission is called sent", [("failed", "not_included"), ("confirmed", None)]),
        ("the chain has taken it", [("confirmed", None)]),
        ("it is called included", [("confirmed", None)]),
    ],
)
def test_the_ledger_says_what_became_of_each(
    mornings: dict[bool, Path], tmp_path: Path, point: str, left: list[tuple[str, str | None]]
) -> None:
    """Before the plan there is no row: the only one is that of the day's second half."""
    folder = tmp_path / "day"
    shutil.copytree(mornings[False], folder)
    process = PROCESSES.Process(target=live_through, args=(folder, point))
    process.start()
    process.join(SECONDS)
    live_through(folder)
    scale = open_scale(folder)
    assert [(row.state, row.reason) for row in scale.ledger.rows()] == (left or [("confirmed", None)])
