"""The public suffix list of the package, and how a newer one takes its place: fetched from a real server."""

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from tools.refresh_suffixes import main, refresh

from tests_root import ROOT
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.suffixes import LIST, VERSION, parse_suffixes

PRESENT = LIST.read_text("utf-8")


@contextmanager
def serve(folder: Path) -> Iterator[str]:
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/list.dat"
        server.shutdown()


def date(text: str, version: str) -> str:
    return VERSION.sub(f"// VERSION: {version}", text, count=1)


def test_the_list_has_its_licence_and_its_date() -> None:
    assert "Mozilla Public\n// License, v. 2.0" in PRESENT[:400]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d_UTC", parse_suffixes(PRESENT).version)
    assert 'license = "MIT AND MPL-2.0"' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_a_newer_list_takes_its_place(tmp_path: Path) -> None:
    target, newer = tmp_path / "kept.dat", date(PRESENT, "2099-01-31_00-00-00_UTC") + "\nnever.example\n"
    target.write_text(PRESENT, "utf-8")
    (tmp_path / "list.dat").write_text(newer, "utf-8")
    with serve(tmp_path) as url:
        before, now = refresh(url, target)
    assert (before, now) == (parse_suffixes(PRESENT), parse_suffixes(newer))
    assert now.find_site("a.b.never.example") is None
    assert target.read_text("utf-8") == newer
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.dat", "list.dat"]


@pytest.mark.parametrize(
    "wrong",
    [
        date(PRESENT, "2019-01-31_00-00-00_UTC"),
        date(PRESENT, "9999"),
        PRESENT.partition("\n\n")[2],
        PRESENT[: len(PRESENT) // 20],
        PRESENT.partition("// ===BEGIN PRIVATE DOMAINS===")[0],
        "<html>busy</html>",
        PRESENT + "// x" * 2_000_000,
    ],
    ids=["older", "undated", "unlicensed", "cut", "half", "a page", "giant"],
)
def test_any_other_list_is_refused(tmp_path: Path, wrong: str) -> None:
    target = tmp_path / "kept.dat"
    target.write_text(PRESENT, "utf-8")
    (tmp_path / "list.dat").write_text(wrong, "utf-8")
    with serve(tmp_path) as url, pytest.raises(WeighbeamError, match="bad_suffix_list"):
        refresh(url, target)
    assert target.read_text("utf-8") == PRESENT


def test_without_a_list_to_fetch_nothing_changes(tmp_path: Path) -> None:
    with serve(tmp_path) as url, pytest.raises(SystemExit, match="the list stays as it is: HTTP Error 404"):
        main([url])
    assert LIST.read_text("utf-8") == PRESENT
