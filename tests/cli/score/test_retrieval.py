"""`weighbeam score chunking` with questions: of one document, and of a folder as table, JSON and page."""

import json
from pathlib import Path

import pytest

from tests_root import ROOT
from warm import weighbeam_warm

DOCUMENT, QUESTIONS = ROOT / "examples/document.txt", ROOT / "examples/questions.json"
CORPUS = ROOT / "examples/corpus"


@pytest.fixture(autouse=True)
def _cache(cache: Path) -> None:
    """Commands share the cache of the test run."""


def run(*arguments: object) -> dict:
    done = weighbeam_warm("score", "chunking", *arguments, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_figures_stand_beside_a_reward_that_questions_do_not_change() -> None:
    cut = (DOCUMENT, "--chunker", "paragraphs", "--chunk-size", 800)
    plain, asked = run(*cut), run(*cut, "--questions", QUESTIONS, "--k", 1, "--k", 2, "--token-budget", 200)
    [before], [row] = plain["answers"], asked["answers"]
    found = row.pop("retrieval")
    assert row == before
    assert [at["k"] for at in found["at"]] == [1, 2]
    assert found["questions"] == 22
    assert found["at"][0]["recall"] == 1.0
    assert found["within"]["tokens"] == 200
    assert 0 < found["at"][1]["iou"] < found["at"][0]["iou"] <= found["at"][0]["precision"] < 1


def test_a_folder_is_compared_as_table_json_and_page(tmp_path: Path) -> None:
    for path in CORPUS.iterdir():
        (tmp_path / path.name.replace("first", "<b>first")).write_text(path.read_text())
    page = tmp_path / "page.html"
    names = ("--chunker", "sentences", "--chunker", "paragraphs", "--chunk-size", 1200)
    report = run(tmp_path, *names, "--html", page)
    assert [row["chunker"] for row in report["chunkers"]] == ["paragraphs", "sentences"]
    best = report["chunkers"][0]
    assert (best["valid"], best["documents"]) == (3, 3)
    assert best["within"]["recall"] == pytest.approx(
        sum(one["answers"][1]["retrieval"]["within"]["recall"] for one in report["documents"]) / 3
    )
    assert best["borders"]["f1"] > report["chunkers"][1]["borders"]["f1"]
    shown = page.read_text()
    assert "&lt;b&gt;first" in shown
    assert "<b>" not in shown
    assert "http:" not in shown.replace("http-equiv", "")
    done = weighbeam_warm("score", "chunking", tmp_path, *names)
    assert done.returncode == 0
    assert all(len(line) <= 80 for line in done.stdout.splitlines())
    assert "recall@1" in done.stdout


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("[]", "bad_questions"),
        ('{"questions": [{"q": "?", "spans": [[0, 99999]]}]}', "bad_questions"),
        ('{"borders": [0]}', "bad_questions"),
        ("{", "not_json"),
    ],
)
def test_bad_question_files_end_in_one_clear_message(content: str, code: str, tmp_path: Path) -> None:
    file = tmp_path / "q.json"
    file.write_text(content)
    arguments = (DOCUMENT, "--chunker", "paragraphs", "--questions", file, "--json")
    done = weighbeam_warm("score", "chunking", *arguments)
    assert done.returncode == 2
    assert json.loads(done.stdout)["error"] == code


def test_a_single_document_has_a_page_too(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    run(DOCUMENT, "--chunker", "paragraphs", "--chunk-size", 800, "--questions", QUESTIONS, "--html", page)
    assert "Retrieval by 22 questions" in page.read_text()
    assert "recall@5" in page.read_text()


def test_options_of_a_single_document_do_not_pass_in_silence_with_a_folder() -> None:
    words = ("--chunker", "paragraphs", "--questions", QUESTIONS, "--json")
    done = weighbeam_warm("score", "chunking", CORPUS, *words)
    assert (done.returncode, json.loads(done.stdout)["error"]) == (2, "bad_option")


def test_a_folder_without_documents_or_chunkers_is_refused(tmp_path: Path) -> None:
    for folder, words, code in ((tmp_path, ["--chunker", "all"], "no_documents"), (CORPUS, [], "no_answers")):
        done = weighbeam_warm("score", "chunking", folder, *words, "--json")
        assert (done.returncode, json.loads(done.stdout)["error"]) == (2, code)
