"""What a round leaves to do is committed with it, done after it, and outlives it where it must."""

import asyncio
from dataclasses import replace

import pytest

from engine.recall import PaidRecall, play
from engine.small_subnet import HOUR, START, Turned
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.outbox import deliver
from weighbeam.engine.outbox.enqueue import format_alert, raise_alerts
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.running.retention import clean_up
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.engine.views.copies import select_copies
from weighbeam.mechanism.records import Scored
from weighbeam.store import tables
from weighbeam.store.database import Store

TEXTS = {"a": "tide", "b": "tide", "c": "moon"}


class Suspicious(PaidRecall):
    """Finds a copy and something strange in every round."""

    name = "suspicious"

    def score(self, params, observation) -> Scored:
        scored = super().score(params, observation)
        copies = [{"hotkeys": ["a", "b"], "cosine": 1.0, "overlap": 1.0}]
        alerts = [
            {"code": "duplicate_answers", "severity": "info", "hotkeys": ["a", "b"]},
            {"code": "strange_tides", "severity": "grave", "hotkeys": ["c"]},
        ]
        return replace(scored, summary={**scored.summary, "copies": copies, "alerts": alerts})


@pytest.fixture
def journal(store_url: str):
    store = Store(store_url)
    yield Journal(store)
    store.close()


def list_outbox(store: Store) -> list[tuple[str, str, str]]:
    with store.read() as connection:
        return [(row.kind, row.ref, row.state) for row in connection.execute(tables.outbox.select())]


def test_alerts_are_raised_after_the_round_and_once(journal: Journal) -> None:
    clock, alerts = Turned(), Alerts(journal.store, lambda: START)
    play(journal, Suspicious(), 1, START, TEXTS)
    assert list_alerts(journal.store, limit=9).items == ()

    async def tell(item) -> None:
        await raise_alerts(alerts, item)

    for _ in range(2):
        asyncio.run(deliver.deliver_due(journal.store, clock, alerts, {"alerts": tell, "copies": tell_nothing}))
    told = {alert.code: alert for alert in list_alerts(journal.store, limit=9).items}
    assert told["duplicate_answers"].text == "suspicious-1: the same answer came from a, b"
    assert (told["strange_tides"].level, told["strange_tides"].mechanism) == ("warning", "suspicious")
    assert alerts.counts["duplicate_answers", "info"] == 1


async def tell_nothing(_) -> None:
    pass


def test_a_round_that_does_not_commit_leaves_nothing_to_do(journal: Journal, monkeypatch) -> None:
    def die(*_) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("weighbeam.engine.journal.journal.update_last_seen", die)
    with pytest.raises(KeyboardInterrupt):
        play(journal, Suspicious(), 1, START, TEXTS)
    assert list_outbox(journal.store) == []
    assert select_copies(journal.store, 9) == []
    monkeypatch.undo()
    journal.commit("suspicious-1", Suspicious())
    assert list_outbox(journal.store) == [
        ("alerts", "suspicious-1", "waiting"),
        ("copies", "suspicious-1", "waiting"),
    ]


def test_a_quiet_round_leaves_nothing(journal: Journal) -> None:
    play(journal, PaidRecall(), 1, START, TEXTS)
    assert list_outbox(journal.store) == []


def test_records_of_copies_outlive_their_rounds_and_replay_does_not_mind(journal: Journal) -> None:
    for number in range(4):
        play(journal, Suspicious(), number, START + number * 300 * HOUR, TEXTS)
    with journal.store.write() as connection:
        row = {"round": "suspicious-0", "kind": "heatmap", "at": START, "value": "somewhere", "maker": ""}
        connection.execute(tables.extras.insert().values(**row))
        connection.execute(tables.outbox.update().values(state="done"))
    done = clean_up(journal.store, START + 1000 * HOUR, Averaging(), "me", lambda _: b"signed")
    assert done.rounds == 3
    assert [row.round for row in select_copies(journal.store, 9)] == [f"suspicious-{n}" for n in (3, 2, 1, 0)]
    assert list_outbox(journal.store) == [("take_away", "suspicious-0", "waiting")]
    with journal.store.read() as connection:
        assert connection.execute(tables.extras.select()).all() == []
    assert len(select_copies(journal.store, 2)) == 2
    assert select_copies(journal.store, 9, "c") == []


def test_many_hotkeys_are_counted_and_not_all_named() -> None:
    text = format_alert("r", {"code": "low_quality_cluster", "hotkeys": [f"k{n}" for n in range(300)]})
    assert text.endswith("k9 and 290 more")
