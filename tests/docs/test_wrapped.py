"""Pages are wrapped, so that a diff of them can be read, and wrapping changes nothing but line ends."""

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from tests_root import ROOT

SCRIPT = ROOT / "tools/docs/wrap.py"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md", "vectors/FORMAT.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
LONG = "word " * 40


def load_script() -> Any:
    spec = importlib.util.spec_from_file_location("wrap", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


wrap_page = load_script().wrap_page


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_a_page_is_wrapped(page: Path) -> None:
    text = page.read_text("utf-8")
    is_wrapped = wrap_page(text) == text
    assert is_wrapped, f"run python tools/docs/wrap.py {page.relative_to(ROOT)}"


def test_a_long_line_becomes_several_that_say_the_same() -> None:
    for lead in ("", "- ", "  12. "):
        wrapped = wrap_page(f"# Title\n\n{lead}{LONG}end\n\nshort\n")
        lines = wrapped.splitlines()
        assert max(map(len, lines)) <= 100
        assert len(lines) == 7
        assert wrapped.split() == f"# Title {lead}{LONG}end short".split()
        assert all(line.startswith(" " * len(lead)) for line in lines[3:5])
        assert wrap_page(wrapped) == wrapped


@pytest.mark.parametrize("lead", ["| ", "    ", "# ", "<p>", "![a picture](x.png) "])
def test_what_is_no_prose_stays(lead: str) -> None:
    assert wrap_page(lead + LONG) == lead + LONG
    assert wrap_page(f"```text\n{LONG}\n```\n") == f"```text\n{LONG}\n```\n"


def test_code_is_not_broken_and_no_line_becomes_an_item() -> None:
    code = "`" + "one two " * 11 + "end`"
    assert code in wrap_page(f"{'word ' * 12}{code} {LONG}")
    marks = wrap_page("".join(f"{'x' * 95} {mark} end of it. " for mark in ("-", "1.", "#", ">", "+", "|")))
    assert not any(line.startswith(("- ", "1. ", "# ", "> ", "+ ", "|")) for line in marks.splitlines())
