"""A corpus belongs to the embedder that began it, also when two begin at once."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.novelty import desk
from weighbeam.novelty.desk import EMBEDDER, claim_corpus
from weighbeam.store.database import Store
from weighbeam.store.remember import recall


@dataclass(frozen=True)
class Named:
    id: str
    digest: str = "0" * 64
    dimensions: int = 4


def test_who_loses_the_race_is_refused_and_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(f"sqlite:///{tmp_path / 'novelty.db'}")

    def recall_too_early(store: Store, key: str) -> object:
        """Before the other one has written."""
        monkeypatch.setattr(desk, "recall", recall)
        claim_corpus(store, Named("first"))
        return None

    monkeypatch.setattr(desk, "recall", recall_too_early)
    with pytest.raises(WeighbeamError, match="embedder_changed: this corpus was made by first"):
        claim_corpus(store, Named("second"))
    assert recall(store, EMBEDDER)["id"] == "first"
