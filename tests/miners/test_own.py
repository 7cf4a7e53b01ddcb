"""A miner's own function: loaded from a module or a file, scored at home and served as one and the same."""

import asyncio
from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.chunking.miners import cuts
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.mechanisms.chunking.ui.question import add_chunkers
from weighbeam.miners.custom import load_custom_handler
from weighbeam.senses.local import LocalSenses

HALVES = """
async def answer(task, seconds):
    half = len(task["document"].split()) // 2
    words = task["document"].split()
    assert set(task) == {"document", "chunk_size", "chunk_qty", "time_soft_max"} and seconds > 0
    return {"chunks": [" ".join(words[:half]), " ".join(words[half:])]}

def plain(task, seconds):
    return {}

async def lost(task, seconds):
    return {"pieces": []}

async def nothing(task, seconds):
    pass

async def broken(task, seconds):
    raise ValueError("boom")

async def slow(task, seconds):
    import asyncio
    await asyncio.sleep(60)
"""
DOCUMENT = "Rain falls in spring. Corn grows in summer. Snow lies in winter. Leaves fall in autumn."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "halves.py").write_text(HALVES, "utf-8")
    return tmp_path / "halves.py"


def test_a_file_s_path_starts_at_the_settings_folder(file: Path) -> None:
    handler = load_custom_handler("halves.py:answer", file.parent)
    task = {"document": "one two", "chunk_size": 10, "chunk_qty": 2, "time_soft_max": 3.0}
    assert asyncio.run(handler(task, 5.0)) == {"chunks": ["one", "two"]}


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("nowhere.py:answer", "No such file"),
        ("halves.py:other", "other"),
        ("halves.py:plain", "is not an async function"),
        ("no.such.module:answer", "No module"),
        (":answer", "Empty module"),
    ],
)
def test_what_cannot_be_loaded_is_named(place: str, told: str, file: Path) -> None:
    with pytest.raises(WeighbeamError, match=told) as caught:
        load_custom_handler(place, file.parent)
    assert caught.value.code == "bad_function"


def test_a_file_that_raises_is_the_user_s_mistake(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("raise RuntimeError('not today')", "utf-8")
    with pytest.raises(WeighbeamError, match="RuntimeError: not today"):
        load_custom_handler("broken.py:answer", tmp_path)


def test_a_file_may_be_like_any_other(tmp_path: Path) -> None:
    """It has data classes, and uses what lies beside it."""
    (tmp_path / "beside_it.py").write_text("WORD = 'beam'\n", "utf-8")
    (tmp_path / "rich.py").write_text(
        "from __future__ import annotations\nfrom dataclasses import dataclass\nfrom beside_it import WORD\n"
        "@dataclass\nclass Cut:\n    word: str = WORD\n"
        "async def answer(task, seconds):\n    return {'chunks': [Cut().word]}\n",
        "utf-8",
    )
    assert asyncio.run(load_custom_handler("rich.py:answer", tmp_path)({}, 1.0)) == {"chunks": ["beam"]}


def test_a_chunker_of_one_s_own_is_asked_as_a_validator_asks(file: Path, senses: LocalSenses) -> None:
    question = {"document": DOCUMENT}
    add_chunkers(question, [f"{file}:answer", "sentences"], senses, timed=False)
    assert [row["hotkey"] for row in question["answers"]] == ["sentences", f"{file}:answer"]
    assert " ".join(question["answers"][1]["chunks"]) == DOCUMENT


@pytest.mark.parametrize(
    ("name", "told", "remedy"),
    [
        ("lost", "lost gave {'pieces'", "return {"),
        ("nothing", "nothing gave None", "return {"),
        ("broken", r"broken failed: ValueError: boom, in halves.py:\d+", "fix it"),
        ("slow", "slow failed: TimeoutError", "fix it"),
    ],
)
def test_one_that_fails_is_told_how(
    name: str, told: str, remedy: str, file: Path, senses: LocalSenses, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cuts, "ChunkingParams", lambda: ChunkingParams(time_soft_max=0.01, timeout=0.05))
    with pytest.raises(WeighbeamError, match=told) as caught:
        add_chunkers({"document": DOCUMENT}, [f"{file}:{name}"], senses, timed=False)
    assert caught.value.code == "chunker_failed"
    assert remedy in caught.value.remedy
