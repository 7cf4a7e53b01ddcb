"""Exports hold everything, verify offline, and can be imported; what was changed or cut short is seen."""

import io
import json
from pathlib import Path
from typing import Any

import pytest

from mechanisms.novelty.desk.books import check_books
from mechanisms.novelty.desk.desks import BRIDGE, KEY, OTTERS, fill_desk, make_desk
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.accounts import count_all, select_receipts
from weighbeam.mechanisms.novelty.desk.audit import verify_export
from weighbeam.mechanisms.novelty.desk.bulk_import import import_lines
from weighbeam.mechanisms.novelty.desk.export import encode_export
from weighbeam.mechanisms.novelty.desk.record import select_record
from weighbeam.network.receipts import verify_receipts
from weighbeam.senses.local import LocalSenses


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory, senses: LocalSenses) -> list[dict[str, Any]]:
    desk = fill_desk(tmp_path_factory.mktemp("export"), senses)
    with desk.store.read() as connection:
        return [json.loads(line) for line in encode_export(select_record(connection), vectors=True)]


def write(path: Path, lines: list[Any]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_everything_is_in_it_and_holds(exported: list[dict[str, Any]], tmp_path: Path) -> None:
    kinds = [line["kind"] for line in exported]
    counts = {kind: kinds.count(kind) for kind in kinds}
    assert counts == {
        "export": 1, "params": 1, "account": 5, "entry": 4, "settlement": 2, "form": 5, "facts": 5, "piece": 5,
        "contribution": 6, "end": 1,
    }  # fmt: skip
    audit, faults = verify_export(write(tmp_path / "e.jsonl", exported), KEY.address, deep=True)
    assert faults == []
    assert audit.counted.nodes == {KEY.address}


def test_without_vectors_it_holds_too(exported: list[dict[str, Any]], tmp_path: Path) -> None:
    lines = [{**line, "vector": None} if line["kind"] == "piece" else line for line in exported]
    assert verify_export(write(tmp_path / "e.jsonl", lines), None, deep=False)[1] == []


@pytest.mark.parametrize(
    ("kind", "name", "value", "told"),
    [
        ("entry", "units", 1, "entry 1 does not match its hash"),
        ("account", "units", 1, "account contributor:ada holds 1"),
        ("contribution", "units", 7, "it got 7 units"),
        ("contribution", "text", "Something else was said here.", "its text does not match its hash"),
        ("contribution", "receipt", None, "this receipt differs from what its node signed"),
        ("piece", "vector", "AAAA", "is damaged"),
        ("form", "contribution", 77, "a form belongs to contribution 77"),
    ],
)
def test_a_changed_line_is_found(
    kind: str, name: str, value: Any, told: str, exported: list[dict[str, Any]], tmp_path: Path
) -> None:
    place = next(place for place, line in enumerate(exported) if line["kind"] == kind)
    lines = [*exported[:place], {**exported[place], name: value}, *exported[place + 1 :]]
    faults = verify_export(write(tmp_path / "e.jsonl", lines), None, deep=True)[1]
    assert [fault for fault in faults if told in fault], faults


@pytest.mark.parametrize(
    "harm",
    [
        lambda lines: lines[:-1],
        lambda lines: lines[:-2] + lines[-1:],
        lambda lines: lines[:5],
        lambda lines: lines[1:],
        lambda lines: [lines[0], 7, *lines[1:]],
        lambda lines: [{**lines[0], "format": 2}, *lines[1:]],
        lambda lines: [{**line, "units": True} if line["kind"] == "entry" else line for line in lines],
        lambda lines: [{**line, "at": 1e999} if line["kind"] == "entry" else line for line in lines],
        lambda lines: [{**line, "vector": "!"} if line["kind"] == "piece" else line for line in lines],
        lambda lines: [{**line, "debit": "\ud800"} if line["kind"] == "entry" else line for line in lines],
    ],
)
def test_what_is_no_export_is_refused(harm: Any, exported: list[dict[str, Any]], tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match="bad_export"):
        verify_export(write(tmp_path / "e.jsonl", harm(exported)), None, deep=True)


def test_an_export_can_be_imported_and_nobody_is_paid_for_it(
    exported: list[dict[str, Any]], tmp_path: Path, senses: LocalSenses
) -> None:
    desk = make_desk(tmp_path, senses)
    lines = write(tmp_path / "e.jsonl", exported).read_bytes()
    brought = import_lines(desk, io.BytesIO(lines), "import", lambda done: None)
    assert (brought.imported, brought.duplicates, brought.bad) == (4, 0, [])
    assert brought.skipped == len(exported) - 4
    assert count_all(desk.store)["treasury"] == 0
    assert desk.submit("cyd", OTTERS)["status"] == "duplicate"
    again = import_lines(desk, io.BytesIO(lines), "import", lambda done: None)
    assert (again.imported, again.duplicates) == (0, 4)


def test_bad_lines_are_named_and_the_others_are_taken(tmp_path: Path, senses: LocalSenses) -> None:
    desk = make_desk(tmp_path, senses)
    lines = [
        b"\xef\xbb\xbf" + json.dumps(OTTERS).encode(),
        b"{",
        json.dumps({"text": BRIDGE, "contributor": "ada"}).encode(),
        json.dumps({"text": OTTERS.upper()}).encode(),
        b"",
        json.dumps({"text": "short"}).encode(),
        json.dumps({"text": BRIDGE + " Really.", "contributor": 7}).encode(),
        b'{"text": "bell \\u0007 in a text"}',
        b'"half \\ud800 a character here"',
        b"\xff\xfe",
        b"[]",
        json.dumps({"text": "x" * 9_000_000}).encode(),
        b"[" * 100_000,
        json.dumps({"text": "The last line of all has no line end and counts."}).encode(),
    ]
    brought = import_lines(desk, io.BytesIO(b"\n".join(lines)), "import", lambda done: None)
    assert (brought.imported, brought.duplicates, brought.skipped) == (3, 1, 1)
    assert [(bad.line, bad.error) for bad in brought.bad] == [
        (2, "not_json"),
        (6, "too_short"),
        (7, "bad_contributor"),
        (8, "bad_text"),
        (9, "bad_text"),
        (10, "not_json"),
        (11, "bad_text"),
        (12, "file_too_large"),
        (13, "not_json"),
    ]
    with desk.store.read() as connection:
        assert list(check_books(connection)) == []
    assert count_all(desk.store)["contributions"] == 3


def test_texts_measured_together_are_the_same_as_alone(tmp_path: Path, senses: LocalSenses) -> None:
    desk = make_desk(tmp_path, senses)
    texts = [OTTERS, " ".join([BRIDGE] * 30), BRIDGE]
    together = desk.measure(texts)
    for text, found in zip(texts, together, strict=True):
        (alone,) = desk.measure([text])
        assert (found.vectors == alone.vectors).all()
        assert (found.look, found.form, found.text_sha256) == (alone.look, alone.form, alone.text_sha256)
    assert [len(found.vectors) for found in together] == [1, len(together[1].vectors), 1]
    assert len(together[1].vectors) > 2


def test_receipt_and_settlement_belong_together(tmp_path: Path, senses: LocalSenses) -> None:
    desk = fill_desk(tmp_path, senses)
    held, other = select_receipts(desk.store, 5), select_receipts(desk.store, 6)
    assert verify_receipts(held, KEY.address) == verify_receipts(held["settlement"], None) == KEY.address
    for found in (
        {**held, "settlement": other["settlement"]},
        {**held, "settlement": 7},
        {**held, "receipt": {**held["receipt"], "units": 1}},
        {"receipt": None},
        {},
    ):
        with pytest.raises(WeighbeamError, match="bad_receipt"):
            verify_receipts(found, None)
