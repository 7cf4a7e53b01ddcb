"""Figures of retrieval are never cut off: a narrow terminal shows fewer of them, a page groups them."""

import json
import re
from pathlib import Path

import pytest

from weighbeam.mechanisms.chunking.ui import retrieval_table
from weighbeam.mechanisms.chunking.ui.comparison import ChunkerComparison, ComparedDocument


def compare(name: str = "paragraphs") -> ChunkerComparison:
    depths = [{"k": k, "recall": k / 10, "precision": k / 100, "iou": k / 1000} for k in (1, 3, 5)]
    within = {"recall": 0.75, "precision": 0.25, "iou": 0.125, "tokens": 400}
    row = {
        "hotkey": name,
        "status": "valid",
        "reward": -1.24e87,
        "place": 0.0,
        "spans": [[0, 9]],
        "retrieval": {"questions": 4, "at": depths, "within": within},
        "borders": {"pk": 0.5, "window_diff": 0.625, "f1": 0.375},
    }
    report = {"answers": [row], "senses": {"embedder": {"id": "minilm"}}}
    return ChunkerComparison((ComparedDocument("first.txt", 9, json.loads(json.dumps(report))),))


@pytest.mark.parametrize("width", range(34, 240, 6))
def test_a_terminal_shows_whole_figures_or_leaves_them_out(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    retrieval_table.show_comparison(compare())
    shown = capsys.readouterr().out
    assert "…" not in shown
    assert max(map(len, shown.splitlines())) <= width
    assert "-1.2e+87" in shown


def test_a_wide_terminal_shows_every_figure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "240")
    retrieval_table.show_comparison(compare())
    row = capsys.readouterr().out.splitlines()[-1].split()
    assert len(row) == len(retrieval_table.list_cells([{"name": "", **compare().summarise()[0]}], "chunker")[0])


def test_the_page_groups_figures_and_escapes_names(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    retrieval_table.save_comparison(file, compare("<script>alert(1)</script>"))
    page = file.read_text("utf-8")
    assert "<script>" not in page
    (first, second), *_ = [re.findall(r"<tr>(.*?)</tr>", head) for head in re.findall(r"<thead>(.*?)</thead>", page)]
    spans = [int(span) for span in re.findall(r'colspan="(\d+)"', first)]
    assert re.findall(r'colgroup">([^<]*)<', first) == ["recall", "in 400 tokens", "borders", "IoU", "precision"]
    assert sum(spans) == second.count("<th") == 15
