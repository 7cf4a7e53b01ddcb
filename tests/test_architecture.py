"""The map is true: every name on it exists, and every room is on it."""

import re
from pathlib import Path
from pkgutil import resolve_name

import pytest

from tests_root import ROOT

PAGE = (ROOT / "docs" / "reference/architecture.md").read_text("utf-8")
PICTURE = (ROOT / "docs" / "images" / "rooms.svg").read_text("utf-8")
SOURCE = ROOT / "src" / "weighbeam"
NAMES = sorted(set(re.findall(r"`([a-z_]+(?:\.[A-Za-z_]\w*)+)`", PAGE)))
ROOMS = re.findall(r"^\| `([a-z_/]+)` \|", PAGE, re.M)
PATHS = re.findall(r"`([a-z_]+/[a-z_./]*)`", PAGE)


def is_room(path: Path) -> bool:
    return path.is_dir() and (path / "__init__.py").exists()


def list_rooms() -> set[str]:
    """Every room of the house, and the parts of those that the table shows in parts."""
    top = {path.name for path in SOURCE.iterdir() if is_room(path)}
    parted = {room.split("/")[0] for room in ROOMS if "/" in room}
    parts = {f"{room}/{path.name}" for room in parted for path in (SOURCE / room).iterdir() if is_room(path)}
    return top | parts - {"store/migrations"}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_exists(name: str) -> None:
    assert resolve_name(f"weighbeam.{name.removeprefix('weighbeam.')}") is not None


def test_a_path_exists() -> None:
    assert [path for path in PATHS if not (SOURCE / path).exists() and path != "src/weighbeam"] == []


def test_the_table_has_every_room_and_no_other() -> None:
    assert len(ROOMS) == len(set(ROOMS))
    assert set(ROOMS) == list_rooms()


def test_the_picture_has_every_room() -> None:
    words = set(re.findall(r"\w+", re.sub(r"<style>.*?</style>", "", PICTURE, flags=re.S)))
    expected = {room.removeprefix("engine/") for room in ROOMS if "/" not in room or room.startswith("engine/")}
    assert expected <= words


def test_every_walk_is_short() -> None:
    walks = re.split(r"^## ", PAGE, flags=re.M)[2:]
    assert len(walks) == 5
    for walk in walks:
        assert 8 <= len(re.findall(r"^\d+\. ", walk, re.M)) <= 15, walk.partition("\n")[0]
