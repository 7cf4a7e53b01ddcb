"""What settings of the novelty API are refused before anything is served, and what they come to."""

import hashlib
from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.novelty.ledger import Limits
from weighbeam.operate.serve import make_gate, open_pools, read_limits, run_service
from weighbeam.operate.tokens import read_scoped
from weighbeam.settings.load import Loaded, load_settings

DIGESTS = [hashlib.sha256(bytes([number])).hexdigest() for number in range(3)]


def load(folder: Path, novelty: str = "", rest: str = '[wallet]\nuri = "//Alice"\n') -> Loaded:
    file = folder / "weighbeam.toml"
    file.write_text(f"{rest}[novelty]\n{novelty}\n")
    return load_settings(file, {})


def test_limits_are_exactly_what_is_written(tmp_path: Path) -> None:
    loaded = load(tmp_path, 'day_limit = 0.3\ncontributor_day_limit = "123456789012.000000001"')
    assert read_limits(loaded, NoveltyParams()) == Limits(300_000_000, 123_456_789_012_000_000_001)
    assert read_limits(load(tmp_path, "day_limit = 0"), NoveltyParams()) == Limits(0, None)
    with pytest.raises(WeighbeamError, match="bad_config"):
        read_limits(load(tmp_path, "day_limit = 1e-10"), NoveltyParams())


@pytest.mark.parametrize(
    "line", ["day_limit = -1", "day_limit = nan", "day_limit = inf", 'day_limit = "1e999999999"', "day_limit = 1e-300",
             'day_limit = "many"', 'scan = "quick"', "per_minute = 0", "colour = 1"]
)  # fmt: skip
def test_a_setting_out_of_range_is_named(tmp_path: Path, line: str) -> None:
    with pytest.raises(WeighbeamError, match=f"bad_config.*novelty.{line.split()[0]}"):
        load(tmp_path, line)


def test_tokens_have_the_scopes_of_their_line(tmp_path: Path) -> None:
    file = tmp_path / "tokens.txt"
    a, b, c = DIGESTS
    file.write_text(f"# ours\n\napp {a} check,submit\napp {b} submit,check\nboss {c} operate\n")
    tokens = read_scoped(file)
    assert tokens.names == {a: "app", b: "app", c: "boss"}
    assert tokens.scopes == {"token:app": {"check", "submit"}, "token:boss": {"operate"}}


@pytest.mark.parametrize(
    "lines",
    [
        "app",
        f"app {DIGESTS[0]}",
        f"app {DIGESTS[0]} check, submit",
        f"app {DIGESTS[0]} everything",
        f"app {DIGESTS[0]} check,,submit",
        f"app {DIGESTS[0].upper()} check",
        f"app {DIGESTS[0]} check\nother {DIGESTS[0]} check",
        f"app {DIGESTS[0]} check\napp {DIGESTS[1]} operate",
    ],
)
def test_a_line_that_is_no_token_is_refused_by_its_number(tmp_path: Path, lines: str) -> None:
    file = tmp_path / "tokens.txt"
    file.write_text(lines)
    with pytest.raises(WeighbeamError, match=f"line {len(lines.splitlines())}, is no token"):
        read_scoped(file)


def test_nothing_is_served_that_nobody_may_use_or_nobody_signs(tmp_path: Path) -> None:
    for loaded, code in (
        (load(tmp_path), "bad_config: nobody may call"),
        (load(tmp_path, 'tokens_file = "none.txt"'), "no_such_file"),
        (load(tmp_path, 'callers = ["Bob"]'), "bad_config.*no hotkey"),
        (load(tmp_path, 'callers = ["Bob"]', ""), "wallet_missing"),
        (load(tmp_path, 'callers = ["Bob"]', '[wallet]\nuri = "//Alice"\n[service]\nlisten = "8080"\n'), "bad_config"),
    ):
        with pytest.raises(WeighbeamError, match=code):
            run_service(loaded)


def test_a_hotkey_has_few_places_and_a_token_the_whole_pool(tmp_path: Path) -> None:
    (tmp_path / "tokens.txt").write_text(f"app {DIGESTS[0]} submit\n")
    pools = open_pools()
    gate, scopes = make_gate(load(tmp_path, 'tokens_file = "tokens.txt"'), "me", pools)
    gate.nonces.close()
    pools.close()
    assert scopes == {"token:app": {"submit"}}
    assert gate.find_policy("token:app").settings.per_sender > pools.desk.most
    assert gate.find_policy("5F").settings.per_sender < pools.desk.most / 10
    assert gate.find_policy("token:app").may_ask("token:app")
    assert not gate.find_policy("token:other").may_ask("token:other")
