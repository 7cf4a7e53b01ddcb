"""What a mechanism raises while a validator, a service, the lab or a replay uses it stays with that mechanism."""

import asyncio
import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from engine.small_subnet import START, Turned, make_chain, make_runner, make_runtime, open_store
from mechanism.fragile import Fragile
from mechanism.installed_package import install
from mechanism.test_bad_packages import ALICE, change, write, write_settings
from weighbeam.app.service.access import open_access
from weighbeam.app.service.apps import load_runs
from weighbeam.app.service.server import make_own_app
from weighbeam.app.settings.sources import LoadedSettings, load_settings
from weighbeam.app.validator.build import build_validator
from weighbeam.app.validator.build import open_store as open_own_store
from weighbeam.app.validator.checks import diagnose_settings
from weighbeam.app.validator.run import log_start, make_validator_app
from weighbeam.chain.local.administer import register
from weighbeam.chain.local.blocks import advance
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.alerts.notices import list_notices
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.outbox.deliver import deliver_due
from weighbeam.engine.outbox.enqueue import find_fault, raise_alerts
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.running.runtime import ValidatorRuntime, play_once
from weighbeam.engine.views.alert_lines import list_alerts
from weighbeam.lab.backtest.overrides import BacktestOverrides
from weighbeam.lab.backtest.play import BacktestCourse
from weighbeam.lab.backtest.run import run_backtest
from weighbeam.lab.backtest.support import AllowedDifferences
from weighbeam.lab.simulate.worlds import load_senses
from weighbeam.mechanism.params import hash_params
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.service.http.threads import ThreadPools

NEEDY = (
    "from weighbeam import Params as Base\n    class Needy(Base):\n        needed: float\n        known: float = 1.0\n"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A chain with a validator."""
    file = ChainFile.create(tmp_path / "chain.sqlite", SubnetParameters(mechanisms=2), manual=True)
    register(file, ALICE.address, stake=5000 * 10**9)
    advance(file, 1)
    file.close()
    return tmp_path


@contextmanager
def odd(folder: Path, *lines: str, needy: bool = False) -> Iterator[None]:
    """The good package with more lines, installed."""
    source = change(*lines)
    if needy:
        source = source.replace("class Odd(", f"{NEEDY}\n    class Odd(") + "        params_type = Needy\n"
    with install(write(folder / "site", source), {"odd": "odd_package:Odd"}, "odd-package"):
        yield


def load(folder: Path, *names: str, params: str = "") -> LoadedSettings:
    path = write_settings(folder, *names)
    if params:
        told = f"{path.read_text('utf-8')}\noverride_params = true\n[mechanisms.{names[-1]}.params]\n{params}\n"
        path.write_text(told, "utf-8")
    return load_settings(path, {})


STARTS = [
    (["def name_senses(self, params, senses): raise RuntimeError('no senses')"], False, "RuntimeError: no senses"),
    (["def name_senses(self, params, senses): raise SystemExit(3)"], False, "SystemExit: 3"),
    ([], True, "needed has no default"),
    (["kind = 'collected'"], False, "override collector"),
    (["kind = 'collected'", "def collector(self, store): raise RuntimeError('closed')"], False, "RuntimeError: closed"),
]


@pytest.mark.parametrize(("lines", "needy", "words"), STARTS)
def test_a_validator_starts_without_it(lines: list[str], needy: bool, words: str, folder: Path) -> None:
    with odd(folder, *lines, needy=needy):
        built = build_validator(load(folder, "odd", "chunking"))
        with closing(built.runtime.store) as store:
            assert [runner.name for runner in built.runners] == ["chunking"]
            (alert,) = list_alerts(store, limit=10).items
            assert (alert.code, alert.mechanism) == ("mechanism_broken", "odd")
            assert words in alert.text
        with pytest.raises(WeighbeamError, match=r"(broken|bad)_mechanism") as caught:
            build_validator(load(folder, "odd"))
        assert words in caught.value.message
        assert caught.value.remedy


@pytest.mark.parametrize("params", ["timeout = true", "tmeout = 1.0"])
def test_a_wrong_setting_still_stops_the_start(params: str, folder: Path) -> None:
    with pytest.raises(WeighbeamError, match="bad_params"):
        build_validator(load(folder, "chunking", params=params))


def test_the_start_log_and_doctor_say_that_parameters_are_overridden(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    loaded = load(folder, "chunking", params="timeout = 6.0")
    with caplog.at_level(logging.WARNING):
        built = build_validator(loaded)
        log_start(built)
        built.runtime.store.close()
    assert "chunking: parameters overridden: timeout" in caplog.text
    (found,) = [one for one in diagnose_settings(folder / "validator.toml", {}) if one.name == "weights of chunking"]
    assert "parameters overridden: timeout" in found.detail


def test_doctor_names_what_a_validator_would_run_without(folder: Path) -> None:
    with odd(folder, *STARTS[0][0]):
        load(folder, "odd", "chunking")
        (found,) = [one for one in diagnose_settings(folder / "validator.toml", {}) if one.name.startswith("start")]
    assert found.state == "fault"
    assert "it would run without odd: name_senses of 'odd' raised RuntimeError" in found.detail


def test_a_burn_share_that_raises_does_not_stop_the_start(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    with odd(folder, "def burn_share(self, params): raise RuntimeError('cold')"), caplog.at_level(logging.ERROR):
        built = build_validator(load(folder, "odd", "chunking"))
        log_start(built)
        built.runtime.store.close()
    assert "burn_share of 'odd' raised RuntimeError: cold" in caplog.text


class Exiting(Chunking):
    def observe(self, params: Any, asked: Any, senses: Any) -> Any:
        raise SystemExit(3)


class ExitingScore(Chunking):
    def score(self, params: Any, observation: Any) -> Any:
        raise SystemExit(3)


VERBS = {"choose", "pose", "ask_seconds", "reply_limits", "min_stake_rao", "name_senses"}


class Tracing(Chunking):
    """Notes on which threads the verbs run that a round calls."""

    def __init__(self) -> None:
        self.threads: dict[str, str] = {}

    def __getattribute__(self, name: str) -> Any:
        found = super().__getattribute__(name)
        if name not in VERBS:
            return found

        def call(*given: Any, **named: Any) -> Any:
            self.threads[name] = threading.current_thread().name
            return found(*given, **named)

        return call


Validator = tuple[ValidatorRuntime, MechanismRunner]


@contextmanager
def running(
    mechanism: Chunking, folder: Path, senses: LocalSenses
) -> Iterator[tuple[ValidatorRuntime, MechanismRunner]]:
    """A validator with one miner, who does not answer."""
    with closing(open_store(folder)) as store:
        file = make_chain(folder, {Hotkey.from_uri("//gone").address: "127.0.0.1:9"})
        runner = make_runner(store, file, senses, clock := Turned())
        context = replace(runner.round_context, mechanism=mechanism)
        yield make_runtime(store, clock), replace(runner, round_context=context)
        file.close()


@pytest.mark.parametrize("mechanism", [Exiting(), ExitingScore()])
def test_a_mechanism_cannot_end_the_validator(mechanism: Chunking, tmp_path: Path, senses: LocalSenses) -> None:
    with running(mechanism, tmp_path, senses) as (runtime, runner):
        asyncio.run(play_once(runtime, runner, own=True))
        (alert,) = list_alerts(runtime.store, limit=10).items
        assert (alert.code, alert.text) == ("round_discarded", "no round: MechanismExit")
        assert runner.recover() == []
        assert runner.round_context.journal.unfinished() == []


def test_the_verbs_of_a_round_run_off_the_event_loop(tmp_path: Path, senses: LocalSenses) -> None:
    mechanism = Tracing()
    with running(mechanism, tmp_path, senses) as (runtime, runner):
        asyncio.run(play_once(runtime, runner, own=True))
        assert runtime.health.add("chunking").rounds == 1
    assert set(mechanism.threads) == VERBS
    assert threading.main_thread().name not in mechanism.threads.values()


def play(journal: Journal, name: str, numbers: Sequence[int]) -> None:
    """A committed round of `Fragile`, with an answer per number."""
    mechanism, params = Fragile(), Fragile.params_type()
    answers = tuple(Answer(f"miner-{place}", {"n": number}, 1.0) for place, number in enumerate(numbers))
    group = Group(tuple(answer.hotkey for answer in answers))
    asked = Asked(Task(name, {}), group, (*answers, Answer("ours", None, status="validator_error")), name)
    facts = RoundFacts(name, mechanism.name, {}, hash_params(mechanism, params, {}), name, 1, START)
    journal.record(facts, asked, mechanism.observe(params, asked, None))
    journal.commit(name, mechanism)


@pytest.mark.parametrize(
    ("numbers", "level", "words"),
    [
        ([13, 13], "critical", "2 of 3 answers are unscored: measure raised RuntimeError: thirteen"),
        ([2, 13], "warning", "1 of 3 answers are unscored: measure raised RuntimeError: thirteen"),
        ([0], "critical", "1 of 2 answers are unscored: grade raised ZeroDivisionError: division by zero"),
    ],
)
def test_a_fault_of_measure_or_grade_is_an_alert_until_it_is_over(
    numbers: list[int], level: str, words: str, tmp_path: Path
) -> None:
    clock = Turned()
    with closing(open_store(tmp_path)) as store:
        alerts = Alerts(store, clock.now)
        for name, given, raised in (("good", [2, 4], []), ("bad", numbers, [level]), ("good-again", [2], [])):
            play(Journal(store), name, given)
            asyncio.run(deliver_due(store, clock, alerts, {"alerts": partial(raise_alerts, alerts)}))
            assert [notice.level for notice in list_notices(store)] == raised
        (alert,) = list_alerts(store, limit=10).items
    assert (alert.code, alert.mechanism, alert.text) == ("mechanism_fault", "fragile", f"bad: {words}")


def test_what_an_alert_says_of_an_exception_is_short_and_harmless(tmp_path: Path) -> None:
    class Loud(Fragile):
        def measure(self, task: Any, reply: Any, senses: Any) -> Any:
            raise RuntimeError("@everyone\n<b>\x1b[2J" + "x" * 5000)

    asked = Loud().examples()[0]
    params = Loud.params_type()
    observation = Loud().observe(params, asked, None)
    told = find_fault(Loud(), params, observation, Loud().score(params, observation))
    assert told is not None
    assert len(told) <= 300
    assert "RuntimeError: ＠everyone ‹b›(2Jxxx" in told


@pytest.mark.parametrize(
    ("lines", "needy", "words"),
    [
        (["def extend_service(self, host): raise RuntimeError('no routes')"], False, "extend_service of 'odd' raised"),
        (["def extend_service(self, host): return 7"], False, "extend_service of 'odd' raised TypeError"),
        (["def add_pages(self, app, pages): raise SystemExit(3)"], False, "add_pages of 'odd' raised SystemExit: 3"),
        ([], True, "needed"),
        (["served_alone = True"], True, "needed"),
    ],
)
@pytest.mark.parametrize("names", [("odd", "chunking"), ("chunking",)])
def test_the_others_are_served_without_it(
    names: tuple[str, ...], lines: list[str], needy: bool, words: str, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with odd(folder, *lines, needy=needy), closing(ThreadPools()) as pools:
        loaded = load(folder, *names)
        with closing(open_own_store(loaded)) as store:
            access = open_access(loaded, store, ALICE.address, "127.0.0.1:0", pools)
            make_own_app(access, store, ALICE)
            told = [record.getMessage() for record in caplog.records if record.levelno == logging.ERROR]
            if "odd" in names or "served_alone = True" in lines:
                assert [words in line and "remedy: " in line for line in told] == [True]
            if "odd" in names and not needy:
                built = build_validator(loaded)
                make_validator_app(built, loaded, "127.0.0.1:0", pools, CollectorRegistry())
                built.runtime.store.close()


def test_a_wrong_setting_still_stops_the_service(folder: Path) -> None:
    with odd(folder), pytest.raises(WeighbeamError, match="bad_params"):
        load_runs(load(folder, "odd", "chunking", params="known = 1"))
    loaded = load_settings(write_settings(folder, "novelty"), {"WEIGHBEAM_NOVELTY__CALLERS": '["nobody"]'})
    with (
        closing(ThreadPools()) as pools,
        closing(open_own_store(loaded)) as store,
        pytest.raises(WeighbeamError, match="bad_config"),
    ):
        make_own_app(open_access(loaded, store, ALICE.address, "127.0.0.1:0", pools), store, ALICE)


@pytest.mark.parametrize("options", ["{'nose': 1}", "{'pages': 'archive:/nowhere'}", "7", "1 / 0"])
def test_the_lab_keeps_the_senses_of_mechanisms_apart(options: str, tmp_path: Path) -> None:
    before = load_senses("evidence").pages.id
    with odd(tmp_path, f"def lab_senses(self): return {options}"):
        assert load_senses("evidence").pages.id == before
        assert load_senses("chunking") is load_senses("inference")
        if "pages" in options:
            assert load_senses("odd") is not load_senses("evidence")
        else:
            with pytest.raises(WeighbeamError, match="broken_mechanism: lab_senses of 'odd' raised"):
                load_senses("odd")


class Forgetful(Fragile):
    """A later version, which cannot score what it once did."""

    def score(self, params: Any, observation: Any) -> Any:
        raise SystemExit(3) if len(observation.facts["rows"]) > 2 else KeyError("gone")


@pytest.mark.parametrize(("numbers", "words"), [([2], "KeyError: 'gone'"), ([2, 4], "SystemExit: 3")])
def test_a_replay_and_a_backtest_go_on_after_what_raises(numbers: list[int], words: str, tmp_path: Path) -> None:
    found = {"fragile": Forgetful(), "chunking": Chunking()}.__getitem__
    asked = Chunking().examples()[0]
    params = ChunkingParams()
    with closing(open_store(tmp_path)) as store:
        journal = Journal(store)
        play(journal, "bad", numbers)
        observation = Chunking().observe(params, asked, LocalSenses(workers=1))
        params_hash = hash_params(Chunking(), params, observation.facts["senses"])
        given = params.model_dump(mode="json")
        journal.record(RoundFacts("good", "chunking", given, params_hash, "s", 1, START), asked, observation)
        journal.commit("good", Chunking())
        replayed = {entry.ref: entry.fault for entry in replay(store, found)}
        assert replayed["bad"] == f"recomputing it raised {words}"
        assert replayed["good"] is None
        terms, course = BacktestOverrides(), BacktestCourse(found)
        with pytest.raises(WeighbeamError, match="journal_differs") as caught:
            run_backtest(store, terms, course)
        assert words in caught.value.message
        done = run_backtest(store, terms, course, AllowedDifferences(anyway=True))
        assert [words in fault for fault in done.comparison.faults] == [True]
        assert done.comparison.mechanisms["chunking"].rounds.rounds == 1
