"""What settings of the novelty API are refused before anything is served, and what they come to."""

from pathlib import Path

import pytest

from weighbeam.app.service.access import check_exposure, open_access
from weighbeam.app.service.server import run_service
from weighbeam.app.settings.sources import LoadedSettings, load_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.requests.tokens import Grant, make_token, revoke_token
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.budgets import make_limits
from weighbeam.mechanisms.novelty.service.handlers import SIGNER
from weighbeam.mechanisms.novelty.service.settings import NoveltySection
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store


def load(folder: Path, novelty: str = "", rest: str = '[wallet]\nuri = "//Alice"\n') -> LoadedSettings:
    file = folder / "weighbeam.toml"
    file.write_text(f"{rest}[novelty]\n{novelty}\n")
    return load_settings(file, {})


def test_limits_are_exactly_what_is_written(tmp_path: Path) -> None:
    loaded = load(tmp_path, 'day_limit = 0.3\ncontributor_day_limit = "123456789012.000000001"')
    assert make_limits(loaded, NoveltyParams()) == PayLimits(300_000_000, 123_456_789_012_000_000_001)
    assert make_limits(load(tmp_path, "day_limit = 0"), NoveltyParams()) == PayLimits(0, None)
    with pytest.raises(WeighbeamError, match="bad_config"):
        make_limits(load(tmp_path, "day_limit = 1e-10"), NoveltyParams())


@pytest.mark.parametrize(
    "line", ["day_limit = -1", "day_limit = nan", "day_limit = inf", 'day_limit = "1e999999999"', "day_limit = 1e-300",
             'day_limit = "many"', 'scan = "quick"', "per_minute = 0", "colour = 1"]
)  # fmt: skip
def test_a_setting_out_of_range_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(WeighbeamError, match=f"bad_config.*novelty.{line.split()[0]}"):
        load(tmp_path, line)


def test_nothing_is_served_that_nobody_may_use_or_nobody_signs(tmp_path: Path) -> None:
    alice = '[wallet]\nuri = "//Alice"\n'
    everywhere = f'{alice}[service]\nlisten = "0.0.0.0:0"\n'
    for loaded, code in (
        (load(tmp_path, rest=everywhere), "bad_config.*there is no token.*serve token new"),
        (load(tmp_path, 'callers = ["Bob"]'), "bad_config.*not a valid hotkey"),
        (load(tmp_path, rest='[wallet]\nfile = "gone"\n'), "wallet_missing"),
        (load(tmp_path, rest=f'{alice}[service]\nlisten = "8080"\n'), "bad_config"),
        (load(tmp_path, rest=f'{alice}[service]\norigins = ["*"]\n'), "bad_config.*service.origins"),
    ):
        with pytest.raises(WeighbeamError, match=code):
            run_service(loaded)


def test_a_live_token_or_a_word_of_the_operator_lets_others_reach_it(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'weighbeam.db'}")
    listen = '[service]\nlisten = "0.0.0.0:0"\n'
    check_exposure(load(tmp_path, rest=f"{listen}public = true\n"), store, 1.0)
    closed = load(tmp_path, rest=listen)
    token, _ = make_token(store, Grant("app", ["read"], days=1), 1.0)
    check_exposure(closed, store, 1.0)
    for now in (1.0 + 86_400, 2.0):
        with pytest.raises(WeighbeamError, match="there is no token"):
            check_exposure(closed, store, now)
        revoke_token(store, token.id, 2.0)
    store.close()


def test_a_validator_is_reached_by_others_on_the_same_terms(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'weighbeam.db'}")
    listen = '[validator]\nlisten = "0.0.0.0:0"\n'
    closed = load(tmp_path, rest=listen)
    check_exposure(closed, store, 1.0)
    with pytest.raises(WeighbeamError, match=r"validator.listen is 0.0.0.0:0.*there is no token"):
        check_exposure(closed, store, 1.0, "0.0.0.0:0")
    check_exposure(load(tmp_path, rest=f"{listen}[service]\npublic = true\n"), store, 1.0, "0.0.0.0:0")
    make_token(store, Grant("app", ["read"]), 1.0)
    check_exposure(closed, store, 1.0, "0.0.0.0:0")
    store.close()


def test_who_may_read_follows_from_where_it_listens(tmp_path: Path) -> None:
    store, pools = Store(f"sqlite:///{tmp_path / 'weighbeam.db'}"), ThreadPools()
    for listen, more, reading in (
        ("127.0.0.1:0", "", "local"),
        ("0.0.0.0:0", "", "closed"),
        ("0.0.0.0:0", "[service]\npublic = true\n", "public"),
    ):
        access = open_access(load(tmp_path, rest=more), store, "me", listen, pools)
        authenticator = access.make_signed_authenticator("novelty", access.loaded.section(NoveltySection), SIGNER)
        assert (access.make_authenticator().reading, authenticator.reading) == (reading, "closed")
        assert authenticator.signers is not None
        assert authenticator.signers.policy.settings.per_sender < pools.submissions.limit / 10
        authenticator.signers.nonces.close()
    pools.close()
    store.close()
