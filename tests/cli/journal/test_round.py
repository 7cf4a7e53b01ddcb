"""`weighbeam journal round`: what came of those who did not answer."""

import json
from pathlib import Path

from keyword_recall.mechanism import KeywordRecall

from engine.recall import play
from warm import weighbeam_warm
from weighbeam.engine.journal.journal import Journal
from weighbeam.store.database import Store


def test_who_gave_no_answer_is_named_with_the_reason(tmp_path: Path) -> None:
    place = tmp_path / "journal.db"
    store = Store(f"sqlite:///{place}")
    play(Journal(store), KeywordRecall(), 0, 1e6, {"ada": "tide moon", "ben": None})
    store.close()
    told = weighbeam_warm("journal", "round", "keyword-recall-0", "--store", place).stdout
    assert "no answer from ben: timeout" in told
    assert "no answer from ada" not in told
    read = json.loads(weighbeam_warm("journal", "round", "keyword-recall-0", "--store", place, "--json").stdout)
    assert {name: one["status"] for name, one in read["replies"].items()} == {"ada": "ok", "ben": "timeout"}
