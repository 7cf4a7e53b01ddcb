"""What a validator of evidence needs to be told before it starts."""

from pathlib import Path

import pytest

from weighbeam.app.senses import open_senses
from weighbeam.app.settings.sources import load_settings
from weighbeam.app.validator.checks import diagnose_settings
from weighbeam.core.errors import WeighbeamError


def load(folder: Path, validator: str):
    file = folder / "weighbeam.toml"
    file.write_text(f"[validator]\n{validator}\n[mechanisms.evidence]\nmechid = 0\n")
    return load_settings(file, {})


@pytest.mark.parametrize(
    "validator",
    [
        "",
        'pages = "elsewhere"',
        'pages = "archive:"',
        'pages = "embedded"\nassessor = "some model"',
        'pages = "embedded"\nrendering = "on"',
    ],
)
def test_what_cannot_be_meant_is_refused(tmp_path: Path, validator: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_config"):
        open_senses(load(tmp_path, validator))


def test_a_browser_that_is_not_there_is_told(tmp_path: Path) -> None:
    load(tmp_path, 'lists = "lists"\nrendering = "on"\nbrowser = "/nowhere/chromium"')
    told = {symptom.name: symptom for symptom in diagnose_settings(tmp_path / "weighbeam.toml", {})}
    assert told["browser"].state == "fault"
    assert "turn rendering off" in told["browser"].remedy


def test_lists_are_named_and_whole(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists/blacklist.json").write_text("{}")
    with pytest.raises(WeighbeamError, match="bad_list"):
        _ = open_senses(load(tmp_path, 'lists = "lists"')).rulebook


def test_the_embedded_pages_need_nothing(tmp_path: Path) -> None:
    senses = open_senses(load(tmp_path, 'pages = "embedded"'))
    assert senses.rulebook.in_force("approved").entries
    assert senses.rulebook.extra_suffixes == ("example",)


def test_manners_are_handed_on(tmp_path: Path) -> None:
    (tmp_path / "lists").mkdir()
    plain, polite, named = (
        open_senses(load(tmp_path, f'lists = "lists"\n{more}')).pages
        for more in ("", 'robots = "respect"', 'user_agent = "my-bot/2 (+https://example.org)"')
    )
    assert len({plain.digest, polite.digest, named.digest}) == 3
    for pages in (plain, polite, named):
        pages.close()


@pytest.mark.parametrize("line", ['robots = "maybe"', 'user_agent = ""', r'user_agent = "a\r\nCookie: b"'])
def test_manners_that_cannot_be_meant_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_config"):
        load(tmp_path, line)


def test_a_key_makes_signatures_mandatory(tmp_path: Path) -> None:
    key = "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY"
    with pytest.raises(WeighbeamError, match="unsigned_list"):
        _ = open_senses(load(tmp_path, f'pages = "embedded"\nlists_key = "{key}"')).rulebook
    with pytest.raises(WeighbeamError, match="bad_list_key"):
        open_senses(load(tmp_path, 'pages = "embedded"\nlists_key = "me"'))
