"""The key beside a store: made once, for its owner's eyes only, and seen to be damaged when it is."""

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from weighbeam.app.node_key import find_key_file, open_node_key
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.keys import is_signed


def test_it_is_made_once_and_signs(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        made = open_node_key(tmp_path / "novelty.key")
    finally:
        os.umask(old)
    assert (tmp_path / "novelty.key").stat().st_mode & 0o777 == 0o600
    again = open_node_key(tmp_path / "novelty.key")
    assert made.address == again.address
    assert is_signed(b"said", again.sign(b"said"), made.address, "ed25519")
    assert [path.name for path in tmp_path.iterdir()] == ["novelty.key"]


def test_many_who_need_it_first_get_the_same(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as pool:
        keys = list(pool.map(lambda _: open_node_key(tmp_path / "novelty.key"), range(32)))
    assert len({key.address for key in keys}) == 1


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620])
def test_one_that_others_may_use_is_refused(mode: int, tmp_path: Path) -> None:
    path = tmp_path / "novelty.key"
    open_node_key(path)
    path.chmod(mode)
    with pytest.raises(WeighbeamError, match=r"key_exposed: .*chmod 600"):
        open_node_key(path)


@pytest.mark.parametrize(
    "harm",
    [
        lambda data: b"",
        lambda data: data[:40],
        lambda data: bytes([data[0] ^ 1]) + data[1:],
        lambda data: data.replace(b"\n5", b"\n6"),
        lambda data: b"zz" + data[2:],
        lambda data: b"\xff" * 100,
        lambda data: data + data,
        lambda data: data[2:],
    ],
)
def test_a_damaged_one_is_refused_and_its_secret_not_told(harm, tmp_path: Path) -> None:
    path = tmp_path / "novelty.key"
    open_node_key(path)
    secret = path.read_text().split()[0]
    path.write_bytes(harm(path.read_bytes()))
    with pytest.raises(WeighbeamError, match="bad_key_file") as told:
        open_node_key(path)
    assert secret[4:] not in str(told.value)


def test_where_it_cannot_be_made_is_told(tmp_path: Path) -> None:
    with pytest.raises(WeighbeamError, match=r"bad_key_file: .*cannot be made"):
        open_node_key(tmp_path / "nothing" / "novelty.key")
    (tmp_path / "folder").mkdir(mode=0o700)
    with pytest.raises(WeighbeamError, match="bad_key_file"):
        open_node_key(tmp_path / "folder")


def test_it_lies_beside_the_store() -> None:
    assert find_key_file("some/place.db") == find_key_file("sqlite:///some/place.db") == Path("some/novelty.key")
    assert find_key_file("postgresql://host/name") == Path("novelty.key")
