"""The constants are the spec's, the schedule keeps its edges, the list of validators fails safe, alerts are told."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from network.loopback import serve_app
from tests_root import ROOT
from weighbeam.engine.rules.constants import (
    CHALLENGE_INTERVAL_SECONDS,
    CONSTANTS,
    WEIGHTS_INTERVAL_SECONDS,
    WeighInLimits,
)
from weighbeam.engine.rules.decision import Decision
from weighbeam.engine.rules.mode import choose_mode
from weighbeam.engine.rules.schedule import WeighInAttempt, find_due
from weighbeam.engine.weights.known_validators import KnownValidators
from weighbeam.engine.weights.weigh_in import WeighInResult
from weighbeam.engine.weights.weigh_in_alerts import list_raised
from weighbeam.store.database import Store

TAO = 10**9
HOUR = 3600.0


def test_the_constants_are_those_of_the_spec() -> None:
    page = (ROOT / "docs/spec/weigh-in.md").read_text()
    table = page[page.index("Internal:") : page.index("From the environment")]
    told = dict(re.findall(r"^\| ([A-Z_]+) \| ([^|]+?) \|", table, re.M))
    assert told.keys() == CONSTANTS.keys()
    for name, text in told.items():
        shown = text.removesuffix(" TAO")
        wanted = float(shown) * (TAO if text.endswith("TAO") else 1) if shown[0].isdigit() else shown
        assert CONSTANTS[name] == wanted, name


def test_code_that_uses_a_constant_uses_that_one() -> None:
    limits = WeighInLimits()
    assert (limits.limit_blocks, limits.degraded_blocks, limits.emergency_blocks) == (
        CONSTANTS["DEREGISTRATION_BLOCK_LIMIT"],
        CONSTANTS["DEGRADED_MODE_THRESHOLD"],
        CONSTANTS["EMERGENCY_MODE_THRESHOLD"],
    )
    assert limits.freshness_hours == CONSTANTS["WEIGHT_FRESHNESS_HOURS"]
    assert limits.freshness_hours_degraded == CONSTANTS["WEIGHT_FRESHNESS_HOURS_DEGRADED"]
    assert limits.max_miner_stake_rao == CONSTANTS["MAX_MINER_STAKE"]
    assert limits.min_serving_nodes == CONSTANTS["WEIGHT_MIN_SERVING_NODES"]
    assert limits.block_seconds == CONSTANTS["BLOCK_SECONDS"]
    assert limits.validator_list_max_age_hours == CONSTANTS["VALIDATOR_LIST_MAX_AGE_HOURS"]
    assert (CHALLENGE_INTERVAL_SECONDS, WEIGHTS_INTERVAL_SECONDS) == (300.0, 4320.0)


@pytest.mark.parametrize(
    ("submitted", "tries", "due"),
    [
        (None, [], 0.0),
        (100.0, [WeighInAttempt(100.0, "submitted", "NORMAL")], 4420.0),
        (100.0, [WeighInAttempt(4420.0, "skip", "NORMAL"), WeighInAttempt(100.0, "submitted", "NORMAL")], 4720.0),
        (None, [WeighInAttempt(10.0, "failed", "NORMAL")], 70.0),
        (None, [WeighInAttempt(10.0, "failed", "NORMAL")] * 2, 130.0),
        (None, [WeighInAttempt(10.0, "failed", "NORMAL")] * 3, 250.0),
        (None, [WeighInAttempt(10.0, "failed", "NORMAL")] * 9, 310.0),
        (None, [WeighInAttempt(10.0, "failed", "DEGRADED")] * 9, 130.0),
        (None, [WeighInAttempt(10.0, "failed", "EMERGENCY")] * 9, 70.0),
        (100.0, [WeighInAttempt(5000.0, "failed", "NORMAL"), WeighInAttempt(100.0, "submitted", "NORMAL")], 5060.0),
    ],
)
def test_the_schedule(submitted: float | None, tries: list[WeighInAttempt], due: float) -> None:
    assert find_due(submitted, tries) == due


@given(
    st.lists(
        st.tuples(st.floats(0, 1e6), st.sampled_from(["skip", "failed"]), st.sampled_from(["DEGRADED", "EMERGENCY"]))
    )
)
def test_no_back_off_outlasts_the_emergency_window(given) -> None:
    tries = [WeighInAttempt(*one) for one in sorted(given, reverse=True)]
    last = tries[0].at if tries else 0.0
    assert find_due(None, tries) - last <= 300 + 1e-6


HOTKEYS = {"version": 1, "updated": "2026-01-01", "validators": [{"hotkey": "v1", "name": "one"}, {"hotkey": "v2"}]}


class Now:
    at = 1000.0

    def __call__(self) -> float:
        return self.at


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path / 'journal.db'}")


def test_the_list_is_off_fresh_cached_old_or_unreadable(store: Store, tmp_path: Path) -> None:
    now, file = Now(), tmp_path / "validators.json"
    assert KnownValidators(None, store, now).current().state == "off"
    known = KnownValidators(str(file), store, now)
    known.refresh()
    assert known.current().state == "unreadable"
    assert known.fault is not None
    file.write_text(json.dumps(HOTKEYS))
    known.refresh()
    assert (known.current().state, known.current().hotkeys) == ("fresh", frozenset({"v1", "v2"}))
    file.write_text("{")
    now.at += 2 * HOUR
    known.refresh()
    assert (known.current().state, known.current().age_hours) == ("cached", 2.0)
    restarted = KnownValidators(str(file), store, now)
    restarted.refresh()
    assert (restarted.current().state, len(restarted.current().hotkeys)) == ("cached", 2)
    assert KnownValidators("another", store, now).current().state == "unreadable"


def test_it_is_read_at_most_once_an_hour(store: Store, tmp_path: Path) -> None:
    now, file = Now(), tmp_path / "validators.json"
    file.write_text(json.dumps(HOTKEYS))
    known = KnownValidators(str(file), store, now)
    known.refresh()
    file.write_text(json.dumps({**HOTKEYS, "validators": [{"hotkey": "v9"}]}))
    now.at += HOUR - 1
    known.refresh()
    assert "v9" not in known.current().hotkeys
    now.at += 1
    known.refresh()
    assert known.current().hotkeys == frozenset({"v9"})


def test_a_url_serves_it_too_and_a_bad_one_is_told(store: Store) -> None:
    from fastapi import FastAPI, Response

    app = FastAPI()
    app.get("/good")(lambda: HOTKEYS)
    app.get("/bad")(lambda: Response("[]"))
    app.get("/gone")(lambda: Response(status_code=404))
    app.get("/big")(lambda: Response(b"x" * (5 << 20)))
    with serve_app(app) as endpoint:
        good = KnownValidators(f"http://{endpoint}/good", store, Now())
        good.refresh()
        assert good.current().state == "fresh"
        for path in ("bad", "gone", "big"):
            poor = KnownValidators(f"http://{endpoint}/{path}", store, Now())
            poor.refresh()
            assert poor.fault is not None, path
    down = KnownValidators(f"http://{endpoint}/good", store, Now())
    down.refresh()
    assert down.fault is not None
    assert down.current().state == "cached"


def weighed(blocks: int | None, **more) -> WeighInResult:
    mode = choose_mode(blocks, None, WeighInLimits())
    return WeighInResult(Decision("submit", None, ()), mode, {}, None, **more)


def test_modes_are_told_on_entering_while_in_them_and_on_leaving() -> None:
    assert list_raised(weighed(3999), None, False) == []
    (entering,) = list_raised(weighed(4000), "NORMAL", False)
    text = "DEGRADED MODE: 4000 of 5000 blocks since the last weight update, freshness 24 h"
    assert (entering.code, entering.level, entering.text) == ("degraded_mode", "warning", text)
    left, now = list_raised(weighed(4500), "DEGRADED", False)
    assert (left.level, now.code, now.level) == ("info", "emergency_mode", "critical")
    (gone,) = list_raised(weighed(0), "EMERGENCY", False)
    assert (gone.code, gone.level) == ("emergency_mode", "info")
    (dark,) = list_raised(weighed(None), "NORMAL", False)
    assert dark.text.startswith("CHAIN UNREADABLE: block height unknown, acting as NORMAL, nothing is submitted")


def test_the_list_the_stall_and_the_clock_are_told() -> None:
    codes = [told.code for told in list_raised(weighed(0, list_ok=False, future=2), "NORMAL", True)]
    assert codes == ["validator_list_unreadable", "weigh_in_stalled", "clock_skew"]
