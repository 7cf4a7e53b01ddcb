"""People are told: exact words, once, also when the receiver was away, and no receiver holds anything up."""

import asyncio
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from app.notices.receivers import Web, serve_mail, serve_web, wait_for
from command import weighbeam
from engine.small_subnet import (
    ALICE,
    Turned,
    make_chain,
    make_runner,
    make_runtime,
    observe_example,
    play,
)
from weighbeam.app.notices.notifier import make_notice_rules, make_notifiers, parse_receivers
from weighbeam.app.settings.sources import LoadedSettings, Settings
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.port import FaultSwitches
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.outbox.deliver import deliver_due, keep_delivering
from weighbeam.engine.running.runtime import weigh_once
from weighbeam.store.database import Store


def load(*urls: str) -> LoadedSettings:
    return LoadedSettings(Settings(wallet={"uri": "//Alice"}, alerts={"urls": urls}), Path(), {})


@pytest.fixture
def store(tmp_path: Path):
    opened = Store(f"sqlite:///{tmp_path / 'journal.db'}")
    yield opened
    opened.close()


class Teller:
    """Alerts and their way out, as a validator has them."""

    def __init__(self, store: Store, clock: Turned, *urls: str) -> None:
        loaded = load(*urls)
        self.receivers = parse_receivers(loaded)
        self.store, self.clock = store, clock
        self.alerts = Alerts(store, clock.now, make_notice_rules(loaded, self.receivers, clock.at))
        self.deliveries = make_notifiers(loaded, self.receivers, ALICE.address)

    def deliver(self) -> int:
        return asyncio.run(deliver_due(self.store, self.clock, self.alerts, self.deliveries))


def test_modes_arrive_word_by_word_once_and_their_end_too(store: Store, senses, tmp_path: Path) -> None:
    """Many weigh-ins in DEGRADED and EMERGENCY: each is told once, and what ended it."""
    clock = Turned()
    observed = observe_example(senses)
    file = make_chain(tmp_path, {answer.hotkey: "127.0.0.1:8000" for answer in observed[0].answers})
    runner = make_runner(store, file, senses, clock)
    play(runner.weigh_in_context.journal, observed, "r1", clock.at)
    with serve_web() as web:
        notifier = Teller(store, clock, web.url)
        runtime = replace(make_runtime(store, clock), alerts=notifier.alerts)

        def weigh(blocks: int) -> str:
            advance(file, blocks)
            clock.at += 600
            asyncio.run(weigh_once(runtime, runner))
            return str(runtime.health.pulses["chunking"].mode)

        assert weigh(0) == "NORMAL"
        runner.weigh_in_context.chain.faults = FaultSwitches(refuse_with="NeuronNoValidatorPermit")
        rules = asyncio.run(runner.weigh_in_context.chain.rules())
        assert [weigh(rules.activity_cutoff * 8 // 10 + 1)] + [weigh(1) for _ in range(5)] == ["DEGRADED"] * 6
        assert [weigh(rules.activity_cutoff // 10)] + [weigh(1) for _ in range(5)] == ["EMERGENCY"] * 6
        runner.weigh_in_context.chain.faults = FaultSwitches()
        weigh(6)
        assert weigh(6) == "NORMAL"
        while notifier.deliver():
            pass
    assert [(row["title"].removeprefix("Weighbeam: "), row["message"].splitlines()[0]) for row in web.taken] == [
        (
            "warning: degraded_mode",
            "DEGRADED MODE: 222 of 277 blocks since the last weight update, freshness 24 h",
        ),
        ("warning: submission_failed", "submission 2 failed: no_permit (the chain refused: NeuronNoValidatorPermit)"),
        (
            "critical: emergency_mode",
            "EMERGENCY MODE: 254 of 277 blocks since the last weight update, no freshness gate, act now",
        ),
        ("over: submission_failed", "submission 14 is confirmed"),
        ("over: emergency_mode", "left EMERGENCY, now NORMAL"),
        ("over: degraded_mode", "left DEGRADED, now NORMAL"),
    ]
    assert f"validator {ALICE.address}, chunking (mechanism 0 of the local chain)" in web.taken[0]["message"]
    assert "remedy: see why weights did not land: weighbeam journal weights" in web.taken[0]["message"]


def test_a_mailbox_gets_the_same_words(store: Store) -> None:
    clock = Turned()
    text = "EMERGENCY MODE: 4500 of 5000 blocks since the last weight update, no freshness gate, act now"
    with serve_mail() as (mailbox, address):
        notifier = Teller(store, clock, address)
        notifier.alerts.tell("emergency_mode", "critical", text, "chunking")
        notifier.deliver()
    ((subject, body),) = mailbox.taken
    assert subject == "Weighbeam: critical: emergency_mode"
    assert body.splitlines()[0] == text


@pytest.mark.parametrize("bad", ["nonsense", "bogus://s3cret/x", "discord://s3cret-half"])
def test_an_address_apprise_cannot_read_is_refused_without_showing_it(bad: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_config") as told:
        parse_receivers(load("json://127.0.0.1", bad))
    assert "address 2 of 2" in str(told.value)
    assert "s3cret" not in str(told.value)
    assert "s3cret" not in repr(parse_receivers(load("json://user:s3cret@127.0.0.1/s3cret")))


def test_without_apprise_the_remedy_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apprise", None)
    assert parse_receivers(load()) == ()
    with pytest.raises(WeighbeamError, match=r"no_apprise.*pip install 'weighbeam\[alerts\]'"):
        parse_receivers(load("json://127.0.0.1"))


def test_a_receiver_that_was_down_gets_everything_later_in_order_and_the_others_once(store: Store) -> None:
    clock = Turned()
    with serve_web() as other:
        with serve_web() as gone:
            address = gone.url
        notifier = Teller(store, clock, address, other.url)
        notifier.alerts.tell("clock_skew", "warning", "3 are later, says s3cret-path-of-mine of //Alice", "chunking")
        notifier.deliver()
        notifier.alerts.end({"clock_skew": "fine again"}, "chunking")
        notifier.deliver()
        assert len(other.taken) == 2
        assert other.taken[0]["message"].startswith("3 are later, says (hidden) of (hidden)\n")
        with serve_web(Web(port=gone.port)) as back:
            clock.at += 3600
            restarted = Teller(store, clock, address, other.url)
            restarted.deliver()
        assert [row["title"] for row in back.taken] == ["Weighbeam: warning: clock_skew", "Weighbeam: over: clock_skew"]
        assert len(other.taken) == 2
        with store.read() as connection:
            faults = connection.exec_driver_sql("SELECT fault FROM outbox WHERE tries > 0").scalars().all()
    assert "s3cret" not in str(faults)


def test_a_receiver_that_hangs_holds_up_nothing(store: Store, monkeypatch) -> None:
    monkeypatch.setattr("weighbeam.engine.outbox.deliver.POLL_SECONDS", 0.05)
    clock = Turned()

    async def run(notifier: Teller, swift: Web) -> None:
        loop = asyncio.create_task(keep_delivering(store, clock, notifier.alerts, notifier.deliveries))
        notifier.alerts.tell("weights_differ", "critical", "@everyone [x](http://evil.example)", "chunking")
        await asyncio.to_thread(wait_for, lambda: len(swift.taken) == 1, 90.0)
        loop.cancel()

    with serve_web(Web(hangs=True)) as slow, serve_web() as swift:
        notifier = Teller(store, clock, f"{slow.url}?rto=600", swift.url)
        asyncio.run(run(notifier, swift))
        began = time.monotonic()
        with pytest.raises(WeighbeamError, match="did not accept it within 1 s"):
            notifier.receivers[0].send("title", "text", "info", seconds=1.0)
        assert time.monotonic() - began < 30
    assert swift.taken[0]["message"].startswith("＠everyone (x)(http: //evil.example)")
    assert swift.taken[0]["type"] == "failure"


def test_the_command_says_who_took_a_test(tmp_path: Path) -> None:
    settings = tmp_path / "weighbeam.toml"
    with serve_web() as web, serve_web(Web(status=500)) as broken:
        settings.write_text(f'[wallet]\nuri = "//Alice"\n[alerts]\nurls = ["{web.url}", "{broken.url}"]\n')
        done = weighbeam("journal", "alerts", "test", "--config", settings)
        assert done.returncode == 1
        assert f"✓ json://127.0.0.1:{web.port}/…" in done.stdout
        assert f"✗ json://127.0.0.1:{broken.port}/…" in done.stdout
        assert "s3cret" not in done.stdout + done.stderr
        assert [row["title"] for row in web.taken] == ["Weighbeam: a test"]
        settings.write_text('[wallet]\nuri = "//Alice"\n[alerts]\nurls = ["bogus://s3cret"]\n')
        refused = weighbeam("journal", "alerts", "test", "--config", settings, "--json")
    assert refused.returncode == 2
    assert '"bad_config"' in refused.stdout
    assert "s3cret" not in refused.stdout
