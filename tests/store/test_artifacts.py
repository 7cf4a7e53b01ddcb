"""Artifacts in a folder: whole or not at all, and never outside of it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.store.artifacts import LONGEST_NAME, open_artifacts


@pytest.mark.parametrize("form", ["{}", "file://{}", "file://localhost{}"])
def test_what_is_put_is_got(tmp_path: Path, form: str) -> None:
    artifacts = open_artifacts(form.format(tmp_path / "new" / "folder with blank"))
    place = artifacts.put("heatmaps/r-1.png", b"picture", "image/png")
    assert Path(place).read_bytes() == artifacts.get("heatmaps/r-1.png") == b"picture"
    assert artifacts.has("heatmaps/r-1.png")
    assert not artifacts.has("heatmaps/r-2.png")
    assert not artifacts.has("heatmaps")
    with pytest.raises(WeighbeamError, match="no_such_artifact"):
        artifacts.get("heatmaps/r-2.png")


def test_the_last_put_counts_and_leaves_nothing_else(tmp_path: Path) -> None:
    artifacts = open_artifacts(str(tmp_path))
    for data in (b"first", b"second, and longer", b""):
        artifacts.put("a/over.txt", data, "text/plain")
        assert artifacts.get("a/over.txt") == data
    assert [file.name for file in (tmp_path / "a").iterdir()] == ["over.txt"]


def test_what_is_removed_is_gone_and_may_be_removed_again(tmp_path: Path) -> None:
    artifacts = open_artifacts(str(tmp_path))
    for name in ("gone/a.png", "gone/b.png"):
        artifacts.put(name, b".", "image/png")
    for _ in range(2):
        artifacts.remove("gone/a.png")
        assert artifacts.list("gone") == ("gone/b.png",)
    artifacts.remove("never/was.png")


def test_lists_are_sorted_and_below_the_prefix(tmp_path: Path) -> None:
    artifacts = open_artifacts(str(tmp_path))
    assert artifacts.list() == ()
    for name in ("h/b.png", "h/a.png", "r/x.html", "top"):
        artifacts.put(name, b".", "image/png")
    (tmp_path / "h" / ".draft").write_bytes(b"")
    assert artifacts.list() == ("h/a.png", "h/b.png", "r/x.html", "top")
    assert artifacts.list("h") == ("h/a.png", "h/b.png")
    assert artifacts.list("none") == ()


@pytest.mark.parametrize(
    "name",
    [
        "", "/", "/etc/passwd", "..", "../a", "a/../b", "a/..", "a//b", "a/", ".hidden", "a/.hidden", "a\\b", "a b",
        "a\n", "a\0", "ä", "~/a", "C:a", "a" * (LONGEST_NAME + 1), "-a",
    ],
)  # fmt: skip
def test_names_that_are_refused(tmp_path: Path, name: str) -> None:
    artifacts = open_artifacts(str(tmp_path / "inside"))
    for ask in (
        lambda: artifacts.put(name, b"", "text/plain"),
        lambda: artifacts.get(name),
        lambda: artifacts.has(name),
    ):
        with pytest.raises(WeighbeamError, match="bad_artifact_name"):
            ask()
    assert [file.name for file in tmp_path.iterdir()] == []


def test_links_lead_nowhere(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for folder in (inside, outside):
        folder.mkdir()
    (outside / "secret").write_text("private")
    (inside / "door").symlink_to(outside)
    (inside / "window").symlink_to(outside / "secret")
    artifacts = open_artifacts(str(inside))
    for name in ("door/secret", "door/new/file", "window"):
        for ask in (
            lambda n=name: artifacts.put(n, b"x", "text/plain"),
            lambda n=name: artifacts.get(n),
            lambda n=name: artifacts.remove(n),
        ):
            with pytest.raises(WeighbeamError, match=r"artifact_fault: .* leads through a symbolic link"):
                ask()
    assert artifacts.list() == ()
    assert [file.name for file in outside.iterdir()] == ["secret"]
    assert (outside / "secret").read_text() == "private"


def test_the_folder_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    open_artifacts(str(tmp_path / "link")).put("a", b"a", "text/plain")
    assert (tmp_path / "real" / "a").read_bytes() == b"a"


def test_a_disk_that_fails_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    artifacts = open_artifacts(str(tmp_path))
    artifacts.put("a", b"old", "text/plain")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(WeighbeamError, match=r"artifact_fault: .*No space left"):
        artifacts.put("a", b"new", "text/plain")
    assert [file.name for file in tmp_path.iterdir()] == ["a"]
    assert artifacts.get("a") == b"old"


def test_a_file_in_the_way_is_told(tmp_path: Path) -> None:
    artifacts = open_artifacts(str(tmp_path))
    artifacts.put("a", b"", "text/plain")
    artifacts.put("b/c", b"", "text/plain")
    with pytest.raises(WeighbeamError, match="artifact_fault"):
        artifacts.put("a/b", b"", "text/plain")
    with pytest.raises(WeighbeamError, match="artifact_fault"):
        artifacts.put("b", b"", "text/plain")


@pytest.mark.parametrize(
    "url", ["", "  ", "a\0b", "file://host/path", "file:///path?x=1", "gs://bucket", "http://host/x"]
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_artifacts_url"):
        open_artifacts(url)


def test_a_folder_needs_no_client_of_s3() -> None:
    code = (
        "import sys; from weighbeam.store.artifacts import open_artifacts; open_artifacts('x')\n"
        "print([name for name in ('obstore', 'sqlalchemy') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
