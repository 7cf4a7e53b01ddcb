"""Artifacts in a real S3 server: kept, found, refused, unreachable, silent."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from store.s3_server import KEY, SECRET, find_port, serve_s3
from weighbeam.core.errors import WeighbeamError
from weighbeam.store.artifacts import open_artifacts
from weighbeam.store.artifacts_s3 import S3Artifacts, S3Place, parse_s3_url

PLACE = "s3://pictures/net-1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("s3") / "buckets"
    (folder / "pictures").mkdir(parents=True)
    with serve_s3(folder) as address:
        yield address


@pytest.fixture(autouse=True)
def _keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)


def connect(endpoint: str, place: str = PLACE) -> S3Artifacts:
    artifacts = open_artifacts(f"{place}?endpoint={endpoint}&region=us-east-1&allow_http=true")
    assert isinstance(artifacts, S3Artifacts)
    return artifacts


def refuse(endpoint: str, place: str = PLACE) -> WeighbeamError:
    with pytest.raises(WeighbeamError) as caught:
        connect(endpoint, place).put("a.txt", b"a", "text/plain")
    assert caught.value.code == "artifact_fault"
    assert caught.value.remedy
    assert SECRET not in str(caught.value)
    assert caught.value.__cause__ is None
    return caught.value


def test_what_is_put_is_got(server: str) -> None:
    artifacts = connect(server)
    data = bytes(range(256)) * 2000
    assert artifacts.put("heatmaps/r-1.png", data, "image/png") == "s3://pictures/net-1/heatmaps/r-1.png"
    assert artifacts.get("heatmaps/r-1.png") == data
    assert artifacts._store.get("heatmaps/r-1.png").attributes["Content-Type"] == "image/png"
    assert artifacts.has("heatmaps/r-1.png")
    assert not artifacts.has("heatmaps/r-2.png")
    with pytest.raises(WeighbeamError, match="no_such_artifact"):
        artifacts.get("heatmaps/r-2.png")


def test_the_last_put_counts(server: str) -> None:
    artifacts = connect(server)
    for data in (b"first", b"second, and longer", b""):
        artifacts.put("over.txt", data, "text/plain")
        assert artifacts.get("over.txt") == data


def test_what_is_removed_is_gone_and_may_be_removed_again(server: str) -> None:
    artifacts = connect(server)
    for name in ("gone/a.png", "gone/b.png"):
        artifacts.put(name, b".", "image/png")
    for _ in range(2):
        artifacts.remove("gone/a.png")
        assert artifacts.list("gone") == ("gone/b.png",)
    artifacts.remove("never/was.png")


def test_lists_are_below_the_prefix_and_sorted(server: str) -> None:
    artifacts, other = connect(server, "s3://pictures/list-1"), connect(server, "s3://pictures/list-2")
    for name in ("h/b.png", "h/a.png", "r/x.html"):
        artifacts.put(name, b".", "image/png")
    other.put("h/c.png", b".", "image/png")
    assert artifacts.list() == ("h/a.png", "h/b.png", "r/x.html")
    assert artifacts.list("h") == ("h/a.png", "h/b.png")
    assert artifacts.list("none") == ()
    assert other.list() == ("h/c.png",)


def test_names_are_checked_before_anything_is_sent(server: str) -> None:
    for name in ("../a", "/a", "a//b", ""):
        with pytest.raises(WeighbeamError, match="bad_artifact_name"):
            connect(server).put(name, b"", "text/plain")


def test_a_bucket_that_is_not_there(server: str) -> None:
    assert "the bucket does not exist" in refuse(server, "s3://elsewhere/x").message
    for ask in (lambda store: store.get("a"), lambda store: store.list("a"), lambda store: store.remove("a")):
        with pytest.raises(WeighbeamError, match=r"artifact_fault: .*the bucket does not exist"):
            ask(connect(server, "s3://elsewhere"))


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_wrong_keys(server: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "wrong-and-private")
    fault = refuse(server)
    assert "refused the credentials" in fault.message
    assert "wrong-and-private" not in str(fault)
    with pytest.raises(WeighbeamError, match="refused the credentials"):
        connect(server).has("a")


@pytest.mark.parametrize("name", ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"])
def test_missing_keys_are_told_at_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(name)
    start = time.monotonic()
    with pytest.raises(WeighbeamError, match="credentials for the S3 store are missing"):
        open_artifacts(PLACE)
    assert time.monotonic() - start < 5


def test_the_url_decides_where_and_not_the_environment(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{find_port()}")
    monkeypatch.setenv("AWS_BUCKET", "elsewhere")
    monkeypatch.setenv("AWS_SKIP_SIGNATURE", "true")
    assert connect(server).put("env.txt", b"here", "text/plain")
    assert connect(server).get("env.txt") == b"here"


def test_a_server_that_is_down() -> None:
    start = time.monotonic()
    refuse(f"http://127.0.0.1:{find_port()}")
    assert time.monotonic() - start < 10


def test_a_server_that_hangs_is_left_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        place = S3Place("pictures", "", "us-east-1", f"http://127.0.0.1:{silent.getsockname()[1]}")
        artifacts = S3Artifacts(place, seconds=0.5)
        start = time.monotonic()
        for ask in (lambda: artifacts.put("a", b"a", "text/plain"), lambda: artifacts.get("a"), artifacts.list):
            with pytest.raises(WeighbeamError, match="artifact_fault"):
                ask()
        assert time.monotonic() - start < 15


@pytest.mark.parametrize(
    "url",
    [
        "s3://", "s3:///prefix", "s3://key:secret@bucket/x", "s3://bucket?nope=1", "s3://bucket?region=a&region=b",
        "s3://bucket/../x", "s3://bucket/a//b", "s3://bucket#x", "s3://bucket:9000/x", "s3://bucket?endpoint",
        "s3://bucket?endpoint=http://127.0.0.1:9000", "s3://bucket?endpoint=http://minio:9000&allow_http=true",
        "s3://bucket?endpoint=http://127.0.0.1.example.com&allow_http=true", "s3://bucket?endpoint=ftp://host",
        "s3://bucket?endpoint=https://key:secret@host", "s3://bucket?endpoint=https://host/path", "s3://bucket?endpoint=",
        "s3://[bucket",
    ],
)  # fmt: skip
def test_urls_that_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(WeighbeamError, match="bad_artifacts_url") as caught:
        open_artifacts(url)
    assert "secret" not in str(caught.value)


def test_the_region_is_the_url_s_or_the_environment_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_REGION", raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-3")
    assert parse_s3_url("s3://b").region == "eu-west-3"
    assert parse_s3_url("s3://b?region=eu-north-1").region == "eu-north-1"


def test_without_the_extra_the_remedy_names_it(tmp_path: Path) -> None:
    code = (
        "import sys; sys.modules['obstore.store'] = None\n"
        "from weighbeam.core.errors import WeighbeamError\n"
        "from weighbeam.store.artifacts import open_artifacts\n"
        "try: open_artifacts('s3://bucket')\n"
        "except WeighbeamError as fault: print(fault.code, fault.remedy)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "no_s3 pip install 'weighbeam[s3]'"
