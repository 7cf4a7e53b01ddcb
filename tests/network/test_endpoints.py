"""Endpoints: the first source that knows a hotkey wins, and none that breaks takes the others down."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from network.loopback import ALICE, BOB, CHARLIE, serve_miner
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.ask import Asker, AskSettings, MinerQuestion, Target
from weighbeam.network.endpoints import Endpoint, find_endpoints, open_sources
from weighbeam.network.signing_dialects import Btauth, Epistula

A, B, C = ALICE.address, BOB.address, CHARLIE.address
CHAIN = {A: "192.0.2.1:1", B: "192.0.2.2:2", C: None}


@pytest.fixture
def reports() -> list[WeighbeamError]:
    return []


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_the_first_source_that_knows_a_hotkey_wins(tmp_path: Path, reports: list[WeighbeamError]) -> None:
    file = write(
        tmp_path / "e.json",
        {A: "http://a.example:9", C: {"url": "https://c.example", "dialect": "epistula/2"}},
    )
    sources = open_sources(["static", "chain"], reports.append, file)
    assert find_endpoints(sources, CHAIN) == {
        A: Endpoint("http://a.example:9", "btauth/1", "static"),
        B: Endpoint("192.0.2.2:2", "btauth/1", "chain"),
        C: Endpoint("https://c.example", "epistula/2", "static"),
    }
    turned = open_sources(["chain", "static"], reports.append, file)
    assert find_endpoints(turned, CHAIN)[A] == Endpoint("192.0.2.1:1", "btauth/1", "chain")
    assert not reports


def test_nobody_is_found_who_was_not_asked_for(tmp_path: Path, reports: list[WeighbeamError]) -> None:
    file = write(tmp_path / "e.json", {A: "http://a.example:9"})
    sources = open_sources(["static", "chain"], reports.append, file)
    assert find_endpoints(sources, {C: None}) == {}


def test_a_setting_names_the_dialect_of_those_that_name_none(tmp_path: Path, reports: list[WeighbeamError]) -> None:
    file = write(tmp_path / "e.json", {A: "http://a.example:9", C: {"url": "c.example:1", "dialect": "btauth/1"}})
    found = find_endpoints(open_sources(["static", "chain"], reports.append, file, "epistula/2"), CHAIN)
    assert [found[hotkey].dialect for hotkey in (A, B, C)] == ["epistula/2", "epistula/2", "btauth/1"]
    with pytest.raises(WeighbeamError, match="unknown_dialect"):
        open_sources(["chain"], reports.append, dialect="dendrite/10")


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{", '{"a": NaN}', {"nobody": "http://a.example:9"}, {A: 5}, {A: None}, {A: {}}, {A: "ftp://a:1"},
        {A: "http://a.example/path"}, {A: {"url": "a.example:1", "dialect": "morse"}},
        {A: {"url": "a.example:1", "dialect": None}}, {A: {"url": "a.example:1", "port": 2}}, {A: "a.example:0"},
        f'{{"{A}": "a.example:1", "{A}": "a.example:2"}}',
    ],
)  # fmt: skip
def test_a_bad_file_is_told_at_the_start(tmp_path: Path, content: Any, reports: list[WeighbeamError]) -> None:
    with pytest.raises(WeighbeamError) as told:
        open_sources(["static"], reports.append, write(tmp_path / "e.json", content))
    assert told.value.code == "bad_endpoint_file"
    assert told.value.remedy


def test_a_missing_file_is_told_at_the_start(tmp_path: Path, reports: list[WeighbeamError]) -> None:
    with pytest.raises(WeighbeamError, match="no_endpoint_file"):
        open_sources(["static"], reports.append, tmp_path / "none.json")
    with pytest.raises(WeighbeamError, match="bad_endpoint_source"):
        open_sources(["static"], reports.append)


def test_a_file_that_turns_bad_is_reported_and_its_last_good_content_used(
    tmp_path: Path, reports: list[WeighbeamError]
) -> None:
    file = write(tmp_path / "e.json", {C: "c.example:1"})
    sources = open_sources(["static"], reports.append, file)
    write(file, {C: "c.example:2"})
    assert find_endpoints(sources, CHAIN)[C].url == "c.example:2"
    write(file, "{")
    assert find_endpoints(sources, CHAIN)[C].url == "c.example:2"
    file.unlink()
    assert find_endpoints(sources, CHAIN)[C].url == "c.example:2"
    assert [report.code for report in reports] == ["bad_endpoint_file", "no_endpoint_file"]
    write(file, {C: "c.example:3"})
    assert find_endpoints(sources, CHAIN)[C].url == "c.example:3"
    assert len(reports) == 2


PLUG_INS = f"""
def knows(hotkey):
    return "plugged.example:7" if hotkey == "{C}" else None

def breaks_for_one(hotkey):
    if hotkey == "{B}":
        raise RuntimeError("no luck")
    return "plugged.example:7"

def talks_nonsense(hotkey):
    return {{"url": 1}} if hotkey == "{A}" else "ftp://x"
"""
ENTRIES = """[weighbeam.endpoints]
knows = wb_plug_ins:knows
breaks-for-one = wb_plug_ins:breaks_for_one
talks-nonsense = wb_plug_ins:talks_nonsense
gone = wb_plug_ins:gone
"""


@pytest.fixture
def plug_ins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An installed package, as the interpreter sees one."""
    write(tmp_path / "wb_plug_ins.py", PLUG_INS)
    installed = tmp_path / "wb_plug_ins-1.dist-info"
    installed.mkdir()
    write(installed / "METADATA", "Metadata-Version: 2.1\nName: wb-plug-ins\nVersion: 1\n")
    write(installed / "entry_points.txt", ENTRIES)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    sys.modules.pop("wb_plug_ins", None)


def test_a_plug_in_fills_what_the_chain_leaves_open(plug_ins: None, reports: list[WeighbeamError]) -> None:
    found = find_endpoints(open_sources(["chain", "knows"], reports.append), CHAIN)
    assert found[C] == Endpoint("plugged.example:7", "btauth/1", "knows")
    assert found[A].source == "chain"
    assert not reports


def test_a_plug_in_that_raises_is_skipped_for_that_hotkey_and_reported_once(
    plug_ins: None, reports: list[WeighbeamError]
) -> None:
    found = find_endpoints(open_sources(["breaks-for-one", "chain"], reports.append), CHAIN)
    assert [found[hotkey].source for hotkey in (A, B, C)] == ["breaks-for-one", "chain", "breaks-for-one"]
    (report,) = reports
    assert report.code == "endpoint_plugin_failed"
    assert "no luck" in report.message


def test_what_is_no_endpoint_is_no_hit(plug_ins: None, reports: list[WeighbeamError]) -> None:
    found = find_endpoints(open_sources(["talks-nonsense", "chain"], reports.append), CHAIN)
    assert {hotkey: endpoint.source for hotkey, endpoint in found.items()} == {A: "chain", B: "chain"}
    assert len(reports) == 1


def test_a_plug_in_that_does_not_load_is_reported_and_one_that_is_not_there_is_refused(
    plug_ins: None, reports: list[WeighbeamError]
) -> None:
    sources = open_sources(["gone", "chain"], reports.append)
    assert [report.code for report in reports] == ["endpoint_plugin_failed"]
    assert set(find_endpoints(sources, CHAIN)) == {A, B}
    with pytest.raises(WeighbeamError, match="bad_endpoint_source"):
        open_sources(["typo"], reports.append)


def test_miners_are_asked_where_and_how_the_file_says(tmp_path: Path, reports: list[WeighbeamError]) -> None:
    async def echo(task: dict[str, Any], seconds: float) -> Any:
        return task

    with serve_miner(echo, tmp_path, dialects=[Btauth(), Epistula()]) as endpoint:
        file = write(tmp_path / "e.json", {B: {"url": f"http://{endpoint}", "dialect": "epistula/2"}})
        found = find_endpoints(open_sources(["static"], reports.append, file), CHAIN)[B]
        question = MinerQuestion("r1", "chunking", "hash", {"document": "d"}, 5.0, "seed")
        asker = Asker(ALICE, AskSettings(allow_private=True, require_signed=False))
        (heard,) = asyncio.run(asker.ask_all(question, [Target(B, found.url, found.dialect)]))
    assert (heard.status, heard.proof) == ("ok", None)
