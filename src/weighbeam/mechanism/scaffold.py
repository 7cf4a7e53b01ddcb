"""Write the package of a new mechanism: one short module to change, its test, and settings to run it."""

import keyword
import re
import shutil
from importlib.util import find_spec
from pathlib import Path
from string import Template

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.mechanism.registry import list_names

TEMPLATES = Path(__file__).with_name("template")
FILES = {
    "pyproject.toml": "pyproject.toml",
    "README.md": "README.md",
    "question.json": "question.json",
    "validator.toml": "validator.toml",
    "miner.toml": "miner.toml",
    "src/{module}/__init__.py": "init.py",
    "src/{module}/mechanism.py": "mechanism.py",
    "src/{module}/miner.py": "miner.py",
    "tests/test_{module}.py": "test.py",
}
"""Files of a new mechanism, with their templates."""
MAX_NAME = 30
NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def write_package(name: str, into: Path) -> list[Path]:
    """Write the package `name` to a new folder of that name in `into`; the files written."""
    module = check_new_name(name)
    values = {"name": name, "module": module, "camel": "".join(part.capitalize() for part in name.split("-"))}
    folder = into / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise WeighbeamError("folder_exists", f"{folder} exists already", "choose another name or --into") from None
    except OSError as fault:
        raise WeighbeamError("cannot_write", f"{folder}: {fault.strerror}", "choose another folder: --into") from None
    try:
        return [_write(folder / path.format(module=module), template, values) for path, template in FILES.items()]
    except OSError as fault:
        shutil.rmtree(folder, ignore_errors=True)
        raise WeighbeamError("cannot_write", f"{folder}: {fault.strerror}", "choose another folder: --into") from None


def check_new_name(name: str) -> str:
    """The module of a mechanism called `name`; a name that cannot be used, or that something has, is refused."""
    shape = f"use at most {MAX_NAME} lower-case letters, digits and single hyphens, a letter first"
    good = len(name) <= MAX_NAME and NAME.fullmatch(name) is not None
    require(good, "bad_name", f"a mechanism cannot be called {name!r}", shape)
    module = name.replace("-", "_")
    require(not keyword.iskeyword(module), "bad_name", f"{module!r} is a word of Python", "choose another name")
    taken = name in list_names()
    require(not taken, "name_taken", f"a mechanism called {name!r} is installed", "choose another name")
    there = find_spec(module) is not None
    require(not there, "name_taken", f"a Python module called {module!r} is installed", "choose another name")
    return module


def _write(path: Path, template: str, values: dict[str, str]) -> Path:
    text = Template((TEMPLATES / f"{template}.txt").read_text("utf-8")).substitute(values)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path
