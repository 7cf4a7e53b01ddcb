"""The house: a public class has one definition, a folder stays small, and only its folder knows a mechanism's name."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests_root import ROOT

SOURCE = ROOT / "src" / "weighbeam"
MAX_MODULES = 20
MECHANISMS = sorted(path.parent.name for path in (SOURCE / "mechanisms").glob("*/mechanism.py"))
IMPORTED = re.compile(rf"\bweighbeam\.mechanisms\.({'|'.join(MECHANISMS)})\b")
WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
JOINED = re.compile(rf"(?:(?<=[._/\[-])|\b)({'|'.join(MECHANISMS)})(?:[\]_-]|[./](?=\w))")
"""A name that is joined to something: of a setting, a section, a file, a table; no word of a sentence."""
MAY_NAME = (
    "demo/",  # the demo has a cast, and each of it plays a part in a named mechanism
    "mechanism/defaults.py",  # the mechanism that settings and commands mean if none is named
    "__init__.py",  # the door: `open_novelty` is a public name
    "app/node_key.py",  # a file that released nodes have: `novelty.key`
    "store/migrations/versions/0006_novelty.py",  # a released link of the one chain of migrations
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


def split_words(name: str) -> set[str]:
    return {word.lower() for word in WORD.findall(name)}


def find_names(path: Path) -> Iterator[tuple[int, str]]:
    """Every mechanism that a module imports from, defines something after, or has in a string, with the line."""
    tree = ast.parse(path.read_text("utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    yield from ((1, name) for name in split_words(path.stem) & set(MECHANISMS))
    for node in ast.walk(tree):
        if id(node) in prose:
            continue
        for name in name_mechanisms(node):
            yield getattr(node, "lineno", 1), name


def name_mechanisms(node: ast.AST) -> Iterable[str]:
    match node:
        case ast.Constant(value=str() as text):
            return [text] if text in MECHANISMS else JOINED.findall(text) if len(text) < 200 else ()
        case ast.ImportFrom(module=str() as module):
            return IMPORTED.findall(module)
        case ast.Import(names=names):
            return [name for one in names for name in IMPORTED.findall(one.name)]
        case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.arg(arg=name):
            return split_words(name) & set(MECHANISMS)
        case ast.Name(id=name, ctx=ast.Store()):
            return split_words(name) & set(MECHANISMS)
        case ast.Attribute(attr=name) if name in MECHANISMS:
            return [name]
    return ()


def test_no_mechanism_name_outside_its_folder() -> None:
    found = []
    for path in list_modules():
        place = path.relative_to(SOURCE).as_posix()
        if place.startswith((*MAY_NAME, "mechanisms/")):
            continue
        found += [f"{place}:{line}: {name}" for line, name in find_names(path)]
    assert found == []


def test_tests_are_in_the_rooms_they_test() -> None:
    tests = ROOT / "tests"
    folders = {path.parent.relative_to(tests).as_posix() for path in tests.rglob("test_*.py")}
    elsewhere = {folder for folder in folders if folder.split("/")[0] not in OF_THE_WHOLE}
    assert {folder for folder in elsewhere if not (SOURCE / folder).is_dir()} == set()


def test_no_mechanism_names_another() -> None:
    found = []
    for path in (SOURCE / "mechanisms").rglob("*.py"):
        place = path.relative_to(SOURCE).as_posix()
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Constant | ast.Import | ast.ImportFrom):
                names = [name for name in name_mechanisms(node) if not place.startswith(f"mechanisms/{name}/")]
                found += [f"{place}:{node.lineno}: {name}" for name in names]
    assert found == []


def test_what_may_name_a_mechanism_does() -> None:
    for place in MAY_NAME:
        paths = (SOURCE / place).rglob("*.py") if place.endswith("/") else [SOURCE / place]
        assert any(name for path in paths for name in find_names(path)), place
