"""The examples do what they say: the notebook runs and its numbers are true, the app pays once, the tutorial is the
package."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from run_notebook import run_notebook
from tests_root import ROOT
from warm import weighbeam_warm
from weighbeam import LocalSenses, WeighbeamError, load_mechanism, score

EXAMPLES, PACKAGE = ROOT / "examples", ROOT / "examples/mechanism_package"
NOTEBOOK = EXAMPLES / "compare_chunkers.ipynb"
NUMBER = re.compile(r"-?\d+\.\d+")
NEAR = 2e-4
"""Another processor may round the last digit shown otherwise."""


def read_outputs(notebook: nbformat.NotebookNode) -> list[str]:
    """What cells printed or showed as a table; pictures are left out."""
    said = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            said.append(output.get("text") or output.get("data", {}).get("text/markdown", ""))
    return said


def test_the_notebook_runs_and_shows_what_is_stored_in_it() -> None:
    stored, fresh = nbformat.read(NOTEBOOK, as_version=4), run_notebook(NOTEBOOK)
    before, after = "\n".join(read_outputs(stored)), "\n".join(read_outputs(fresh))
    assert len(NUMBER.findall(before)) > 150
    assert NUMBER.sub("#", after) == NUMBER.sub("#", before), "run tests/run_notebook.py"
    expected = pytest.approx([float(number) for number in NUMBER.findall(before)], abs=NEAR)
    assert [float(number) for number in NUMBER.findall(after)] == expected, "run tests/run_notebook.py"


def test_the_stored_notebook_is_whole_and_small() -> None:
    cells = [cell for cell in nbformat.read(NOTEBOOK, as_version=4).cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert sum("image/png" in output.get("data", {}) for cell in cells for output in cell.outputs) == 5
    assert NOTEBOOK.stat().st_size < 400_000


def pay(folder: Path) -> list[str]:
    with (EXAMPLES / "suggestions.txt").open() as lines:
        command = [sys.executable, str(EXAMPLES / "pay_for_novelty.py"), str(folder)]
        done = subprocess.run(command, stdin=lines, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_box_pays_for_what_is_new_and_never_twice(tmp_path: Path) -> None:
    first = pay(tmp_path / "box")
    assert "suggestion 1 of ada is paid: 100 tokens" in first
    assert "suggestion 4 of dora is duplicate: 0 tokens" in first
    assert "line 6 is refused: it has 2 words, 3 are needed; say more" in first
    paraphrase = next(line for line in first if line.startswith("suggestion 2 of bob is paid"))
    assert float(paraphrase.split()[-2]) == 0
    assert pay(tmp_path / "box") == first, "the same receipts again, and the same balances"
    assert [line for line in first if " has " in line and "ada" in line] == ["ada has 200 tokens"]


def test_the_app_is_about_twenty_lines() -> None:
    code = (EXAMPLES / "pay_for_novelty.py").read_text().split('"""')[2]
    assert len([line for line in code.splitlines() if line.strip()]) <= 22


def fragments() -> list[tuple[str, str]]:
    page = (ROOT / "docs/guides/write-a-mechanism.md").read_text()
    return re.findall(r'^```\w+ title="([^"]+)"\n(.*?)^```', page, re.M | re.S)


@pytest.mark.parametrize(("name", "fragment"), fragments())
def test_every_fragment_of_the_tutorial_is_the_package(name: str, fragment: str) -> None:
    assert fragment in (PACKAGE / name).read_text(), f"{name} has other lines"


def test_the_tutorial_has_every_file_of_the_package() -> None:
    files = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if "build" not in path.parts}
    assert {"pyproject.toml", "question.json", *files} - {name for name, _ in fragments()} == set()


@pytest.mark.parametrize("command", ["mechanism check keyword-recall", "score keyword-recall question.json --explain"])
def test_the_tutorial_shows_what_its_commands_print(command: str) -> None:
    page = (ROOT / "docs/guides/write-a-mechanism.md").read_text()
    words = [PACKAGE / word if word == "question.json" else word for word in command.split()]
    said = weighbeam_warm(*words, COLUMNS="80").stdout.strip("\n").splitlines()
    assert f"    weighbeam {command}\n" in page
    assert "\n".join(line.rstrip() for line in said) in page


def test_chunkings_of_ones_own_are_scored_as_a_round_would(senses: LocalSenses) -> None:
    document = (EXAMPLES / "document.txt").read_text()
    chunking = load_mechanism("chunking")
    cut = chunking.cut(document, senses, 800, names=("paragraphs", "sentences", "paragraphs"))
    assert list(cut) == ["paragraphs", "sentences"]
    answers = [{"hotkey": name, "chunks": chunks} for name, chunks in {**cut, "whole": [document]}.items()]
    result = score(chunking, {"document": document, "chunk_size": 800, "answers": answers}, senses=senses)
    rewards = {row["hotkey"]: row["value"] for row in result.table()}
    assert rewards["paragraphs"] > rewards["sentences"] > rewards["whole"]
    with pytest.raises(WeighbeamError, match="bad_chunk_size"):
        chunking.cut(document, senses, 0)
