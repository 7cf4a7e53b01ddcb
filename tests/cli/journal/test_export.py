"""`weighbeam journal export` as its users type it, and the page that explains it."""

import json
import re
from pathlib import Path

import duckdb
import pyarrow.parquet

from lab.golden_journal import JOURNAL
from tests_root import ROOT
from warm import weighbeam_warm
from weighbeam.engine.export.schema import TABLES

PAGE = (ROOT / "docs/guides/export.md").read_text("utf-8")
TYPES = {
    "int64": "int64",
    "double": "double",
    "bool": "bool",
    "string": "string",
    "string (JSON)": "string",
    "list of string": "list<element: string>",
    "list of int64": "list<element: int64>",
}
PUBLISHED = {
    "rounds": "entry hash round mechanism unix_time block params_hash params seed task_id task_kind ranked task asked "
    "valid unscored void departed lateness summary",
    "answers": "entry round mechanism unix_time position hotkey uid status seconds reason payload proof",
    "scores": "entry round mechanism unix_time position hotkey status value reasons emission parts",
    "standings": "entry round mechanism unix_time position hotkey value detail",
    "weigh_ins": "entry hash weigh_in mechanism unix_time action reason mode blocks uniform eligible stale burn params",
    "weights": "entry weigh_in mechanism unix_time position hotkey uid raw last_success_at weight value",
    "submissions": "id mechanism unix_time state reason message mode block sent_block included_block entry_hash uids "
    "weights hotkeys plan",
}
"""Columns of `export/1`: a later version may add some at the end of a table, and change none."""


def list_documented(name: str) -> list[tuple[str, str, bool]]:
    """Column, type and whether it may be null, as the page says."""
    section = PAGE.partition(f"\n### {name}\n")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| (yes)? ?\| [^|]+ \|$", section, re.M)
    return [(column, TYPES[kind], null == "yes") for column, kind, null in rows]


def test_an_export_has_the_schema_that_is_documented(tmp_path: Path) -> None:
    journal = tmp_path / "journal.sqlite"
    journal.write_bytes(JOURNAL.read_bytes())
    done = weighbeam_warm("journal", "export", "--parquet", tmp_path / "export", "--store", journal)
    assert done.returncode == 0, done.stderr
    assert f"exported up to entry 48: {tmp_path}/export/parts/000001" in done.stdout
    assert "submissions: 24 rows" in done.stdout
    for name in TABLES:
        schema = pyarrow.parquet.read_schema(tmp_path / f"export/parts/000001/{name}.parquet")
        assert [(one.name, str(one.type), one.nullable) for one in schema] == list_documented(name)
    assert journal.read_bytes() == JOURNAL.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["export", "journal.sqlite"]
    again = weighbeam_warm("journal", "export", "--parquet", tmp_path / "export", "--store", journal, "--json")
    told = json.loads(again.stdout)
    assert (told["part"], told["rows"], told["entry"], told["missing"]) == (None, {}, 48, [])
    run_documented(tmp_path)


def run_documented(folder: Path) -> None:
    """The page's own queries find something."""
    block = PAGE.partition("With DuckDB:\n")[2].partition("With Polars:")[0]
    queries = [query for query in re.sub(r"^ {4}", "", block, flags=re.M).split(";") if query.strip()]
    assert len(queries) == 2
    with duckdb.connect() as connection:
        for query in queries:
            assert connection.execute(query.replace("'export/", f"'{folder}/export/")).fetchone() is not None
    shown = PAGE.partition("With Polars:\n")[2].partition("\n## ")[0]
    exec(re.sub(r"^ {4}", "", shown, flags=re.M).replace('"export/', f'"{folder}/export/'), {})


def test_published_columns_stay_where_they_are() -> None:
    assert set(TABLES) == set(PUBLISHED)
    for name, listed in PUBLISHED.items():
        names = [column.name for column in TABLES[name]]
        assert names[: len(listed.split())] == listed.split()


def test_a_folder_that_is_not_ours_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    done = weighbeam_warm("journal", "export", "--parquet", tmp_path, "--store", JOURNAL)
    assert done.returncode == 2
    assert "bad_export" in done.stderr
    assert "remedy: export to a new folder" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.txt"]
