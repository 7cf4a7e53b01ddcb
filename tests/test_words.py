"""Plain English: phrases that readers stumbled over occur nowhere in help, errors, logs, docstrings or docs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests_root import ROOT

SOURCE = ROOT / "src" / "weighbeam"
WORDS = {
    r"\bwhoever\b": "name the person: the caller, the miner, the operator",
    r"\bwhomever\b": "name the person",
    r"\banew\b": "again",
    r"\bbesides\b": "in addition to, also, further",
    r"\bmend(?:s|ed|ing)?\b": "fix, correct",
    r"(?<!there )\b(?:is|are) no\b(?! (?:longer|more than|less than|later than|matter)\b)": "is not a",
    r"\btold\b": "say who learns what: reported, logged, informed",
    r"\bsays? of (?:it|them)sel(?:f|ves)\b": "declares",
}
"""Words that the house style avoids, each with what to write instead."""

RIDDLES = (
    "is there, and right",
    "was there before",
    "there before,",
    "opens nothing here",
    "lived through again",
    "weights of ours",
    "keeps the protocol",
    "somebody else's desk",
    "weights are made under",
    ", ages from ",
    "turns that spoke against",
    "says what reads its parameters",
    "the same again",
    "somebody eligible",
    "somebody earned something",
    "miners without success",
    "validator list usable",
    "it is made then",
    "stands in its way",
    "something needed is broken",
    "of what is counted below",
    "seen among copies",
    "found wanting",
    "as if it never was",
    "whichever you take",
    "still only paid for evidence",
    "are heard from",
    "a package of yours",
    "of what it prints",
    "wants that are not met",
    "reads like this page",
    "otherwise from here on",
    "they ask whom they asked",
    "same answer as somebody else",
    "came to no end of its own",
    "told when it begins",
    "whom the freshness",
    "share a look for",
    "nothing else than it says",
    "comes twice",
    "it stands still",
    "our own fault; the operator",
    "computing it again",
    "computed again as it was",
    "is called confirmed",
    "goes on by itself",
)
"""Phrases that newcomers read twice. None may come back."""

NOT_PROSE = {
    "mechanisms/inference/lab/knowing.py": "filler that attackers send",
    "mechanisms/inference/text/languages.py": "lists of words",
    "mechanisms/inference/text/words.py": "lists of words",
    "mechanisms/inference/lab/references.py": "filler that honest miners of the lab send",
    "core/text.py": "lists of words",
}
"""Files whose strings are data and not addressed to a reader."""


OPENING = re.compile(r"^(?:What|Who|Whom|Whose|Whoever)\b(?![^.]*\?)")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
PAGES = ["README.md", "CONTRIBUTING.md", "AGENTS.md", "SECURITY.md"]


def list_sources(room: str) -> list[Path]:
    paths = (SOURCE / room).rglob("*.py") if room else SOURCE.glob("*.py")
    named = {path.relative_to(SOURCE).as_posix(): path for path in sorted(paths)}
    return [path for name, path in named.items() if name not in NOT_PROSE]


def list_pages() -> list[Path]:
    return [*(ROOT / name for name in PAGES), *sorted((ROOT / "docs").rglob("*.md"))]


def list_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Docstrings, and string constants of three words or more, with their lines; an f-string without its values."""
    inner = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    short = {id(node.body[0].value) for node in ast.walk(tree) if isinstance(node, DOCUMENTED) and is_described(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "…" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner:
            text = node.value.split(">>>")[0] if id(node) in short else node.value
        else:
            continue
        if text.count(" ") > 1:
            yield node.lineno, " ".join(text.split())


def is_described(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return ast.get_docstring(node) is not None


def find_faults(text: str) -> Iterator[str]:
    """
    >>> list(find_faults("mend the line; the key is no text")), list(find_faults("there is no subnet; it is no longer"))
    (['mend: fix, correct', 'is no: is not a'], [])
    """
    for pattern, advice in WORDS.items():
        if found := re.search(pattern, text, re.IGNORECASE):
            yield f"{found[0]}: {advice}"
    lower = text.lower()
    yield from (f"{riddle}: reword" for riddle in RIDDLES if riddle in lower)


def strip_code(page: str) -> str:
    """A page without its fenced and indented blocks, which are checked where they come from."""
    plain = re.sub(r"^```.*?^```", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"^ {4}.*$", "", plain, flags=re.MULTILINE)


@pytest.mark.parametrize("room", ["", *sorted(path.parent.name for path in SOURCE.glob("*/__init__.py"))])
def test_source_speaks_plainly(room: str) -> None:
    faults = []
    for path in list_sources(room):
        for line, text in list_texts(ast.parse(path.read_text(encoding="utf-8"))):
            opening = ["begin with the verb or the thing"] if OPENING.match(text) else []
            name = path.relative_to(SOURCE)
            faults += [f"{name}:{line}: {fault} | {text[:100]}" for fault in [*find_faults(text), *opening]]
    assert faults == []


def test_pages_speak_plainly() -> None:
    texts = {page: " ".join(strip_code(page.read_text(encoding="utf-8")).split()) for page in list_pages()}
    assert [f"{page.relative_to(ROOT)}: {fault}" for page, text in texts.items() for fault in find_faults(text)] == []


def test_unreleased_changes_speak_plainly() -> None:
    """Released entries are history and stay as they are."""
    unreleased = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n## ")[1]
    assert unreleased.startswith("Unreleased")
    faults = [f"{fault} | {line}" for line in unreleased.splitlines() for fault in find_faults(line)]
    assert faults == []
