"""Lists with a signature, and lists that change while a validator runs: what cannot be used changes nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from weighbeam.app.senses import make_list_check
from weighbeam.cli.main import app
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import Hotkey
from weighbeam.network.list_signatures import find_signer, parse_list_key, require_signature, sign_list
from weighbeam.senses.adapters.lists import FolderRulebook, ReloadedLists

OWNER, OTHER = Hotkey.from_uri("//Owner"), Hotkey.from_uri("//Other")
EDWARD = Hotkey.from_uri("//Owner", "ed25519")


def make_list(name: str = "blacklist", version: int = 1, *matches: str) -> dict[str, Any]:
    entries = [{"match": match, "reason": "tést", "added": "2026-01-01"} for match in matches or ("bad.com",)]
    return {"list": name, "version": version, "effective": "2026-01-01", "entries": entries}


def write(folder: Path, content: dict[str, Any], hotkey: Hotkey | None = OWNER) -> Path:
    path = folder / f"{content['list']}-{content['version']}.json"
    path.write_text(json.dumps(content if hotkey is None else sign_list(content, hotkey)), "utf-8")
    return path


@pytest.mark.parametrize("hotkey", [OWNER, EDWARD])
def test_a_signature_survives_the_file_and_names_its_key(hotkey: Hotkey) -> None:
    signed = json.loads(json.dumps(sign_list(make_list(), hotkey), indent=3))
    key = parse_list_key(f"{hotkey.scheme}:{hotkey.address}")
    assert find_signer(signed) == key
    require_signature(signed, key)
    require_signature(sign_list(signed, hotkey), key)


def change(**fields: Any) -> Any:
    return lambda signed: {**signed, **fields}


def resign(**fields: Any) -> Any:
    return lambda signed: {**signed, "signature": {**signed["signature"], **fields}}


CHANGES = {
    "no signature": lambda signed: {name: value for name, value in signed.items() if name != "signature"},
    "null": change(signature=None),
    "a text": change(signature="signed"),
    "nothing in it": change(signature={}),
    "an entry more": lambda signed: {**signed, "entries": [*signed["entries"], {"match": "good.com"}]},
    "no entry": change(entries=[]),
    "another list": change(list="approved"),
    "a newer version": change(version=2),
    "another day": change(effective="2025-01-01"),
    "a key more": change(note="x"),
    "another signer": lambda signed: sign_list(signed, OTHER),
    "the same secret, another scheme": lambda signed: sign_list(signed, EDWARD),
    "the name of the signer": resign(by=OTHER.address),
    "the name of the scheme": resign(scheme="ed25519"),
    "no scheme": resign(scheme="none"),
    "no hex": resign(value="xyz"),
    "short": resign(value="00"),
    "zeros": resign(value="00" * 64),
    "what cannot be signed": change(note=float("nan")),
    "half a character": change(note="\ud800"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_whatever_is_changed_it_is_refused(what: str, tmp_path: Path) -> None:
    check = make_list_check(OWNER.address)
    signed = sign_list(make_list(), OWNER)
    (tmp_path / "a.json").write_text(json.dumps(signed))
    FolderRulebook(tmp_path, check=check)
    (tmp_path / "a.json").write_text(json.dumps(CHANGES[what](signed)))
    with pytest.raises(WeighbeamError, match=r"unsigned_list: a\.json: "):
        FolderRulebook(tmp_path, check=check)


@pytest.mark.parametrize("key", ["", "5F", "rsa:" + OWNER.address, OWNER.address + "x", "0x" + "00" * 32])
def test_what_is_no_key_is_refused_before_any_list(key: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_list_key"):
        make_list_check(key)


def test_without_a_key_a_signature_is_optional(tmp_path: Path) -> None:
    write(tmp_path, make_list(), OTHER)
    write(tmp_path, make_list("approved"), None)
    assert FolderRulebook(tmp_path, check=make_list_check(None)).in_force("approved").version == 1


@pytest.fixture
def kept(tmp_path: Path) -> ReloadedLists:
    write(tmp_path, make_list())
    write(tmp_path, make_list("approved"))
    return ReloadedLists(tmp_path, (), make_list_check(OWNER.address), only_newer=True)


BROKEN = {
    "unsigned": lambda folder: write(folder, make_list("blacklist", 2), None),
    "signed by another": lambda folder: write(folder, make_list("blacklist", 2), OTHER),
    "half written": lambda folder: (folder / "blacklist-2.json").write_text('{"list": "blackl'),
    "an entry that is none": lambda folder: write(folder, make_list("blacklist", 2, "not a host")),
    "taken away": lambda folder: (folder / "blacklist-1.json").unlink(),
    "not yet in effect": lambda folder: write(folder, {**make_list(), "effective": "2999-01-01"}),
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_running_validator_keeps_the_last_good_lists(what: str, tmp_path: Path, kept: ReloadedLists) -> None:
    told: list[WeighbeamError] = []
    renewed: list[bool] = []
    before = kept.renew(told.append, lambda: renewed.append(True))
    BROKEN[what](tmp_path)
    assert kept.renew(told.append, lambda: renewed.append(True)) is kept.renew(told.append) is kept.current is before
    assert renewed == []
    assert [fault.code for fault in told] in (["bad_list"], ["unsigned_list"], ["bad_entry"])
    write(tmp_path, make_list("blacklist", 1))
    write(tmp_path, make_list("blacklist", 2, "worse.com"))
    after = kept.renew(told.append, lambda: renewed.append(True))
    assert (after.in_force("blacklist").entries, len(told), renewed) == (("worse.com",), 1, [True])
    assert before.in_force("blacklist").entries == ("bad.com",)


def test_a_signed_list_cannot_be_undone_by_its_own_past(tmp_path: Path, kept: ReloadedLists) -> None:
    told: list[WeighbeamError] = []
    newer = write(tmp_path, make_list("blacklist", 2, "worse.com"))
    kept.renew(told.append)
    newer.unlink()
    assert kept.renew(told.append).in_force("blacklist").version == 2
    assert "changed from version 2 back to 1" in told[0].message


def test_at_the_start_there_is_no_last_good_one(tmp_path: Path) -> None:
    write(tmp_path, make_list(), None)
    with pytest.raises(WeighbeamError, match="unsigned_list"):
        _ = ReloadedLists(tmp_path, (), make_list_check(OWNER.address)).current


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    with pytest.raises(SystemExit) as ended:
        get_command(app).main(["evidence", "lists", *map(str, words)])
    return int(ended.value.code or 0), capsys.readouterr().out


def test_the_commands_sign_and_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("blacklist", "approved"):
        write(tmp_path, make_list(name), None)
    settings = tmp_path / "weighbeam.toml"
    settings.write_text(f'[wallet]\nuri = "//Owner"\n[validator]\nlists_key = "{OWNER.address}"\n')
    code, said = run(capsys, "check", tmp_path, "--config", settings, "--json")
    assert (code, json.loads(said)["ok"]) == (1, False)
    _, said = run(capsys, "sign", tmp_path, "--config", settings, "--json")
    key = f"sr25519:{OWNER.address}"
    assert [(row["list"], row["key"]) for row in json.loads(said)["lists"]] == [("approved", key), ("blacklist", key)]
    code, said = run(capsys, "check", tmp_path, "--config", settings)
    assert (code, said.count("ok ")) == (0, 2)
    FolderRulebook(tmp_path, check=make_list_check(OWNER.address))
    assert run(capsys, "check", tmp_path, "--key", OTHER.address)[0] == 1
    code, said = run(capsys, "sign", tmp_path / "none", "--config", settings, "--json")
    assert (code, json.loads(said)["error"]) == (2, "bad_list")
