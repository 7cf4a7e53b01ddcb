"""Files of strangers: what is read of them, and how the rest is refused."""

import gzip
import json
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.validity import records
from weighbeam.lab.validity.records import DataRecord, load_records, parse_records


def read(name: str, data: bytes) -> list[DataRecord]:
    return list(parse_records(name, data))


def test_lines_lists_and_tables_are_read() -> None:
    row = {"a": "ä", "b": 1}
    line = json.dumps(row).encode()
    assert [(one.line, one.fields) for one in read("x.jsonl", b"\xef\xbb\xbf" + line + b"\r\n\n" + line)] == [
        (1, row),
        (3, row),
    ]
    assert [one.place for one in read("x.json", b"[" + line + b"," + line + b"]")] == ["x.json:1", "x.json:2"]
    assert [one.fields for one in read("x.json", line)] == [row]
    table = read("x.csv", b'a,b\n"one, ""two""\nlines",2\n')
    assert [(one.line, one.fields) for one in table] == [(3, {"a": 'one, "two"\nlines', "b": "2"})]
    assert read("x.tsv", b'a\tb\nsay "so\t2\n')[0].fields == {"a": 'say "so', "b": "2"}


@pytest.mark.parametrize("name", ["x.jsonl", "x.jsonl.gz", "x.json.gz", "x"])
def test_gzip_is_told_by_its_bytes(name: str) -> None:
    assert [one.fields for one in read(name, gzip.compress(b'{"a": 1}', mtime=0))] == [{"a": 1}]


def test_a_whole_character_may_be_escaped() -> None:
    assert read("x.jsonl", rb'{"a": "\ud83d\ude00"}')[0].fields == {"a": "\U0001f600"}


def test_a_set_is_named_by_the_row_or_by_the_file() -> None:
    assert DataRecord("some/dev.jsonl.gz", 1, {"set": "mine"}).set == "mine"
    assert DataRecord("some/dev.jsonl.gz", 1, {"set": ""}).set == "dev"
    assert DataRecord(".gz", 1, {}).change({"a": 1}).fields == {"set": "rows", "a": 1}


@pytest.mark.parametrize(
    ("name", "data", "code", "told"),
    [
        ("x.jsonl", b'{"a": 1}\n{"a": ', "bad_rows", "x.jsonl:2: not JSON"),
        ("x.jsonl", b'{"a": 1, "a": 2}', "bad_rows", "x.jsonl:1: not JSON: a key occurs twice"),
        ("x.jsonl", b'{"a": NaN}', "bad_rows", "NaN is not a number"),
        ("x.jsonl", rb'{"a": ["\ud83d"]}', "bad_rows", "x.jsonl:1: a text holds half a character"),
        ("x.jsonl", rb'{"\uDC00": 1}', "bad_rows", "x.jsonl:1: a text holds half a character"),
        ("x.jsonl", b"[1, 2]", "bad_rows", "x.jsonl:1: this is not a JSON object"),
        ("x.jsonl", b'{"a": "\xff"}', "bad_rows", "x.jsonl:1: not JSON"),
        ("x.jsonl", b'{"a": ' + b"[" * 5000 + b"]" * 5000 + b"}", "bad_rows", "x.jsonl:1"),
        ("x.json", b'[{"a": 1}, 2]', "bad_rows", "x.json:2: this is not a JSON object"),
        ("x.csv", b"a,a\n1,2\n", "bad_rows", "a column occurs twice"),
        ("x.csv", b"a,b\n1,2\n1\n", "bad_rows", "x.csv:3: 1 columns, and the header has 2"),
        ("x.csv", b'a,b\n"1,2\n', "bad_rows", "x.csv:2: unexpected end of data"),
        ("x.tsv", b"a\tb\n\xff\t1\n", "not_utf8", "x.tsv: bad byte at 4"),
        ("x.jsonl.gz", b"\x1f\x8bnothing", "unreadable_file", "x.jsonl.gz is not gzip"),
        ("x.jsonl.gz", gzip.compress(b'{"a": 1}' * 99, mtime=0)[:-9], "unreadable_file", "x.jsonl.gz is not gzip"),
    ],
)
def test_a_bad_file_is_refused_with_its_line(name: str, data: bytes, code: str, told: str) -> None:
    with pytest.raises(WeighbeamError) as refused:
        read(name, data)
    assert (refused.value.code, bool(refused.value.remedy)) == (code, True)
    assert told in refused.value.message


def test_sizes_are_capped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(records, "MAX_LINE", 50)
    with pytest.raises(WeighbeamError, match=r"bad_rows: x.jsonl:2: the line has more than 50 bytes"):
        read("x.jsonl", b'{"a": 1}\n{"a": "' + b"x" * 50 + b'"}')
    with pytest.raises(WeighbeamError, match=r"bad_rows: x.tsv:2: field larger than field limit"):
        read("x.tsv", b"a\n" + b"x" * 60)
    monkeypatch.setattr(records, "MAX_BYTES", 1000)
    with pytest.raises(WeighbeamError, match=r"file_too_large: x has more than 1,000 bytes unpacked"):
        read("x", gzip.compress(b" " * 10**6, mtime=0))
    (tmp_path / "big.jsonl").write_bytes(b" " * 1001)
    with pytest.raises(WeighbeamError, match="file_too_large"):
        load_records([tmp_path / "big.jsonl"])
    monkeypatch.setattr(records, "MAX_RECORDS", 2)
    (tmp_path / "many.jsonl").write_bytes(b"{}\n" * 3)
    with pytest.raises(WeighbeamError, match="file_too_large: more than 2 records"):
        load_records([tmp_path / "many.jsonl"])


def test_a_folder_is_its_data_files(tmp_path: Path) -> None:
    (tmp_path / "model_answer").mkdir()
    (tmp_path / "model_answer" / "b.jsonl").write_text('{"n": 2}\n')
    (tmp_path / "a.json").write_text('[{"n": 1}]')
    (tmp_path / "README.md").write_text("not data")
    files, found = load_records([tmp_path])
    assert [one.fields["n"] for one in found] == [1, 2]
    assert [(Path(file.name).name, file.records, len(file.sha256)) for file in files] == [
        ("a.json", 1, 64),
        ("b.jsonl", 1, 64),
    ]
    with pytest.raises(WeighbeamError, match="no_such_file"):
        load_records([tmp_path / "c.jsonl"])


@given(st.sampled_from(["x.jsonl", "x.json", "x.csv", "x.tsv", "x.gz"]), st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(name: str, data: bytes) -> None:
    with suppress(WeighbeamError):
        assert all(isinstance(one.fields, dict) for one in read(name, data))
