"""Senses whose package is missing name the extra to install."""

import sys
from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.local import load_embedder, load_entailment


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [
        ("st:any", "sentence_transformers", "torch"),
        ("openai:any@http://127.0.0.1:9", "openai", "openai"),
    ],
)
def test_the_remedy_names_the_extra(name: str, module: str, extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(WeighbeamError, match=rf"pip install 'weighbeam\[{extra}\]'"):
        load_embedder(name, Path("unused"))


def test_so_does_the_remedy_of_entailment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(WeighbeamError, match=r"no_transformers.*pip install 'weighbeam\[torch\]'"):
        load_entailment("hf:any")
