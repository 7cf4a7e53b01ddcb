"""The table of chunkings stays readable whatever a reward is."""

from typing import Any

import pytest

from weighbeam.mechanisms.chunking.ui.table import show_chunking


def make_row(hotkey: str, reward: float, factor: float, place: float) -> dict[str, Any]:
    parts = {"similarity": -0.0071, "intra": 0.1, "inter": 0.1071, "factor": factor}
    return {
        "hotkey": hotkey, "status": "valid", "failure": None, "reward": reward, "parts": parts, "place": place,
        "spans": [[0, 1]] * 5, "seconds": 0.1,
    }  # fmt: skip


@pytest.mark.parametrize("width", ["80", "120"])
def test_rewards_far_below_zero_are_shown_short(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", width)
    answers = [
        make_row("fine", 0.12345, 1.0, 0),
        make_row("tiny", 1.2e-9, 1e-8, 1),
        make_row("far", -1.24e87, 1.7e89, 2),
    ]
    limits = {"chunk_size": 400, "chunk_qty": 2, "time_soft_max": 3.75}
    senses = {"embedder": {"id": "minilm"}}
    show_chunking(
        {"answers": answers, "limits": limits, "params_hash": "0" * 64, "senses": senses, "best": 0, "faults": []},
        False,
    )
    shown = capsys.readouterr().out
    assert all(number in shown for number in ("0.12345", "1.2e-09", "-1.24e+87", "×1.7e+89"))
    assert max(map(len, shown.splitlines())) <= int(width)
