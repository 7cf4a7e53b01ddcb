"""Settings of a proxy: what a dry run, the doctor and the start say of its right."""

import json
from pathlib import Path

import pytest

from chain.stand import make_file
from command import weighbeam as run
from engine.small_subnet import ALICE
from weighbeam.app.chains import check_registered, find_own_hotkey, find_proxying, look_at_chain, open_file
from weighbeam.app.identity import open_hotkey
from weighbeam.app.settings.sources import load_settings
from weighbeam.app.validator.build import build_weigh_in_context, open_known
from weighbeam.app.validator.checks import diagnose_settings
from weighbeam.chain.local.administer import add_proxy, register, remove_proxies
from weighbeam.chain.proxies import Delegation
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rounds.permit import find_bar
from weighbeam.engine.running.diagnosis import Symptom
from weighbeam.engine.support.clock import WallClock
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

PROXY = Hotkey.from_uri("//proxy")
FILE = f"""
[wallet]
uri = "//proxy"
[chain]
path = "chain.sqlite"
proxy_for = "{ALICE.address}"
[validator]
listen = ""
[mechanisms.chunking]
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A file of settings; its chain knows the hotkey, and nobody is its proxy yet."""
    make_file(tmp_path, [Hotkey.from_uri("//one").address]).close()
    path = tmp_path / "weighbeam.toml"
    path.write_text(FILE)
    Store(load_settings(path, {}).store_url()).close()
    return path


def grant(config: Path, kind: str = "NonFungible", delay: int = 0) -> None:
    add_proxy(open_file(load_settings(config, {})), ALICE.address, Delegation(PROXY.address, kind, delay))


def ask(config: Path, *command: str) -> dict:
    found: dict = json.loads(run(*command, "--json", "--config", config).stdout)
    return found


def list_checks(config: Path) -> dict[str, tuple[bool, str]]:
    told = ask(config, "journal", "weights", "--dry-run")
    return {check["check"]: (check["holds"], check["detail"]) for check in told["checks"]}


def test_a_dry_run_names_the_proxy_and_whether_it_holds_the_right(config: Path) -> None:
    assert ask(config, "journal", "weights", "--dry-run")["proxy"] == {
        "signer": PROXY.address,
        "for": ALICE.address,
        "type": None,
    }
    holds, detail = list_checks(config)["proxy's right"]
    assert not holds
    assert detail == f"{PROXY.address} is no proxy of {ALICE.address}"
    grant(config, "Staking")
    holds, detail = list_checks(config)["proxy's right"]
    assert (holds, detail.endswith("of type Staking, which may not set weights")) == (False, True)
    grant(config)
    checks = list_checks(config)
    assert checks["proxy's right"] == (
        True,
        f"{PROXY.address} signs for {ALICE.address} as its proxy of type NonFungible",
    )
    assert checks["hotkey registered"] == (True, ALICE.address)
    assert checks["permit"][0]


def test_the_doctor_tells_a_missing_right_and_its_remedy(config: Path) -> None:
    def look() -> Symptom:
        return next(symptom for symptom in diagnose_settings(config, {}) if symptom.name == "proxy")

    assert look().state == "fault"
    assert f"let {ALICE.address} add {PROXY.address} as its proxy of type NonFungible" in look().remedy
    grant(config)
    assert look().state == "ok"
    remove_proxies(open_file(load_settings(config, {})), ALICE.address)
    assert look().state == "fault"


@pytest.mark.parametrize(("kind", "delay", "text"), [("Staking", 0, "may not set weights"), ("Any", 3, "delay of 3")])
def test_a_validator_without_the_right_does_not_start(config: Path, kind: str, delay: int, text: str) -> None:
    loaded = load_settings(config, {})
    for _ in range(2):
        with pytest.raises(WeighbeamError, match="no_proxy_right") as caught:
            check_registered(loaded, open_hotkey(loaded))
        assert caught.value.remedy
        grant(config, kind, delay)
    assert text in caught.value.message
    remove_proxies(open_file(loaded), ALICE.address)
    grant(config)
    check_registered(loaded, open_hotkey(loaded))


def test_all_that_concerns_the_chain_is_the_hotkeys_and_what_is_signed_the_proxys(config: Path) -> None:
    loaded = load_settings(config, {})
    hotkey, store = open_hotkey(loaded), Store(loaded.store_url())
    known = open_known(loaded, store, WallClock(), keep=False)
    context = build_weigh_in_context(loaded, "chunking", store, hotkey, known)
    assert context.own_hotkey == find_own_hotkey(loaded, hotkey) == ALICE.address
    assert context.chain.verify(b"words", context.chain.sign(b"words"), PROXY.address)
    store.close()


def test_no_round_is_played_in_the_name_of_a_proxy_that_miners_would_refuse(config: Path) -> None:
    look = look_at_chain(load_settings(config, {}), PROXY)
    graph, rules = look.graph, look.rules
    bar = find_bar(PROXY.address, graph, rules, ALICE.address)
    assert bar is not None
    assert (bar.code, "proxy of" in bar.message, "require_permit" in bar.remedy) == ("no_permit", True, True)
    assert find_bar(ALICE.address, graph, rules, ALICE.address) is None


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (("proxy_for", "proxy_type = 'Any' #"), "not whose proxy"),
        ((ALICE.address, "Alice"), "not a valid hotkey"),
    ],
)
def test_settings_of_a_proxy_that_make_no_sense_are_refused(config: Path, change: tuple[str, str], text: str) -> None:
    config.write_text(FILE.replace(*change))
    with pytest.raises(WeighbeamError, match=text):
        find_proxying(load_settings(config, {}))


def test_a_type_that_cannot_set_weights_is_refused_in_the_settings(config: Path) -> None:
    config.write_text(FILE.replace("proxy_for", "proxy_type = 'Staking'\nproxy_for"))
    with pytest.raises(WeighbeamError, match="proxy_type"):
        load_settings(config, {})


def test_a_coldkey_is_told_from_a_hotkey(config: Path) -> None:
    cold, held = Hotkey.from_uri("//cold").address, Hotkey.from_uri("//held").address
    register(open_file(load_settings(config, {})), held, cold)
    config.write_text(FILE.replace(ALICE.address, cold))
    loaded = load_settings(config, {})
    with pytest.raises(WeighbeamError, match="not_registered") as caught:
        check_registered(loaded, open_hotkey(loaded))
    assert held in caught.value.message
