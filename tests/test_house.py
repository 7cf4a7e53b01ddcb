"""The house: a public class has one definition, a folder stays small, and only its folder knows a mechanism's name."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests_root import ROOT

SOURCE = ROOT / "src" / "weighbeam"
MAX_MODULES = 20
MECHANISMS = sorted(path.parent.name for path in (SOURCE / "mechanisms").glob("*/mechanism.py"))
IMPORTED = re.compile(rf"\bweighbeam\.mechanisms\.({'|'.join(MECHANISMS)})\b")
MAY_NAME = (
    "demo/",  # the demo has a cast, and each of it plays a part in a named mechanism
    "mechanism/defaults.py",  # the mechanism that settings and commands mean if none is named
    "__init__.py",  # the door: `open_novelty` is a public name
)
OF_THE_WHOLE = ("browser", "crash", "docs", "loopnode")
"""Folders of tests that belong to no room."""


def list_modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def test_no_public_class_name_is_defined_twice() -> None:
    places = defaultdict(list)
    for path in list_modules():
        for node in ast.parse(path.read_text("utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def test_no_folder_has_more_than_twenty_modules() -> None:
    counts: dict[str, int] = defaultdict(int)
    for path in list_modules():
        counts[str(path.parent.relative_to(SOURCE))] += path.name != "__init__.py"
    assert {folder: count for folder, count in counts.items() if count > MAX_MODULES} == {}


def find_names(path: Path) -> Iterator[tuple[int, str]]:
    """Every mechanism that a module imports from or has as a string, with the line."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in MECHANISMS:
                yield node.lineno, node.value
            elif len(node.value) < 100:
                yield from ((node.lineno, name) for name in IMPORTED.findall(node.value))
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, name) for name in IMPORTED.findall(node.module or ""))
        elif isinstance(node, ast.Import):
            yield from ((node.lineno, name) for one in node.names for name in IMPORTED.findall(one.name))


def test_no_mechanism_name_outside_its_folder() -> None:
    found = []
    for path in list_modules():
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith(MAY_NAME):
            continue
        for line, name in find_names(path):
            if not place.startswith(f"mechanisms/{name}/"):
                found.append(f"{place}:{line}: {name}")
    assert found == []


def test_tests_are_in_the_rooms_they_test() -> None:
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")}
    elsewhere = {folder for folder in folders if folder.split("/")[0] not in OF_THE_WHOLE}
    assert {folder for folder in elsewhere if not (SOURCE / folder).is_dir()} == set()
