"""Files of API tokens: a line for each, with its name, the SHA-256 of the token, and what it may do."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.read_json import read_text
from weighbeam.service.gate import TOKEN
from weighbeam.service.teller import SCOPES

MOST_BYTES = 1 << 20
LINE = re.compile(r"(\S{1,64})\s+([0-9a-f]{64})(?:\s+(\S+))?")
HASH = "the SHA-256 of the token: printf %s TOKEN | sha256sum"


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    name: str
    digest: str
    scopes: str | None


@dataclass(frozen=True, slots=True)
class Tokens:
    """`names` by the SHA-256 of each token, `scopes` by `token:NAME`."""

    names: Mapping[str, str]
    scopes: Mapping[str, frozenset[str]]


def read_plain(path: Path) -> dict[str, str]:
    """Tokens that may do all there is: SHA-256 of each → the name of whoever holds it."""
    return {line.digest: line.name for line in _read_lines(path, scoped=False)}


def read_scoped(path: Path) -> Tokens:
    """Tokens that may do what their lines say; one name has one set of scopes, however many tokens."""
    names: dict[str, str] = {}
    scopes: dict[str, frozenset[str]] = {}
    for line in _read_lines(path, scoped=True):
        given = frozenset((line.scopes or "").split(","))
        if not given <= set(SCOPES):
            raise _refuse(path, line.number, f"scopes of: {', '.join(SCOPES)}")
        if line.digest in names or scopes.setdefault(f"{TOKEN}{line.name}", given) != given:
            raise _refuse(path, line.number, "each token once, and the same scopes for the same name")
        names[line.digest] = line.name
    return Tokens(names, scopes)


def _read_lines(path: Path, scoped: bool) -> list[Line]:
    found = []
    for number, text in enumerate(read_text(path, MOST_BYTES).splitlines(), 1):
        if not text.strip() or text.startswith("#"):
            continue
        read = LINE.fullmatch(text.strip())
        if read is None or (read[3] is not None) != scoped:
            raise _refuse(path, number, f"NAME, {HASH}{', and scopes such as check,submit' if scoped else ''}")
        found.append(Line(number, read[1], read[2], read[3]))
    return found


def _refuse(path: Path, number: int, remedy: str) -> WeighbeamError:
    return WeighbeamError("bad_config", f"{path}, line {number}, is no token", f"write {remedy}")
