"""A corpus belongs to the embedder that began it, also when two begin at once; what is withdrawn is gone."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from mechanisms.novelty.desk.desks import BRIDGE, OTTERS, make_desk
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk import desk
from weighbeam.mechanisms.novelty.desk.desk import EMBEDDER, claim_corpus
from weighbeam.mechanisms.novelty.desk.settlement import withdraw
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store
from weighbeam.store.memory import recall


@dataclass(frozen=True)
class Named:
    id: str
    digest: str = "0" * 64
    dimensions: int = 4


def test_who_loses_the_race_is_refused_and_changes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def recall_too_early(store: Store, key: str) -> object:
        """Before the other one has written."""
        monkeypatch.setattr(desk, "recall", recall)
        claim_corpus(store, Named("first"))
        return None

    monkeypatch.setattr(desk, "recall", recall_too_early)
    with pytest.raises(WeighbeamError, match="embedder_changed: this corpus was made by first"):
        claim_corpus(store, Named("second"))
    assert recall(store, EMBEDDER)["id"] == "first"


def test_a_withdrawn_text_is_in_no_file_any_more(tmp_path: Path, senses: LocalSenses) -> None:
    desk = make_desk(tmp_path, senses)
    long = " ".join(f"The secret number {number} is told to nobody at all." for number in range(70))
    for text in (OTTERS, long, BRIDGE):
        desk.submit("ada", text)
    withdraw(desk, 2)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert any(OTTERS.encode() in content for content in files.values())
    assert [name for name, content in files.items() if b"secret number" in content] == []
    assert desk.submit("bob", long)["status"] == "duplicate"
