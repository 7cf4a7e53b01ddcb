"""Contents come back from each form they are kept in; what is damaged, endless or leads in circles is refused."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, insert, select, update

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.pack import pack
from weighbeam.core.planes import find_runs
from weighbeam.core.zstd import compress_beside, compress_each
from weighbeam.store import blobs as module
from weighbeam.store.blobs import (
    BESIDE,
    PLANES,
    RUN,
    digest_bytes,
    insert_beside,
    insert_blobs,
    insert_planes,
    select_blob,
    select_blobs,
)
from weighbeam.store.database import Store
from weighbeam.store.tables import blobs

WORDS = b"The tide turns at noon. " * 200
MEGABYTE = 1 << 20
SHARED = Store("sqlite://")


@pytest.fixture
def store(store_url: str) -> Store:
    return Store(store_url)


def read_data(store: Store, digest: str) -> bytes:
    with store.read() as connection:
        return connection.execute(select(blobs.c.data).where(blobs.c.digest == digest)).scalar_one()


def put_data(store: Store, digest: str, data: bytes) -> None:
    with store.write() as connection:
        connection.execute(insert(blobs).values(digest=digest, data=data))


def find_refusal(store: Store, digest: str) -> str:
    with store.read() as connection, pytest.raises(WeighbeamError) as found:
        select_blob(connection, digest)
    return f"{found.value.code} {found.value.message}"


def test_a_content_comes_back_from_each_form(store: Store) -> None:
    vectors = np.arange(-2000, 2000, dtype="<i4").reshape(40, 100)
    packed = pack({"a": 1}, {"v": vectors})
    answer = b"[" + WORDS[:3000] + b"]"
    with store.write() as connection:
        (base,) = insert_blobs(connection, [WORDS])
        beside = insert_beside(connection, answer, WORDS)
        planes = insert_planes(connection, packed, find_runs({"v": vectors}, len(packed)))
    assert read_data(store, planes)[:4] == PLANES
    assert read_data(store, beside)[:36] == BESIDE + bytes.fromhex(base)
    wanted = {base: WORDS, beside: answer, planes: packed}
    assert {digest_bytes(one) for one in wanted.values()} == wanted.keys()
    with store.read() as connection:
        assert select_blobs(connection, wanted) == wanted
        assert {digest: select_blob(connection, digest) for digest in wanted} == wanted


@given(st.binary(max_size=3000), st.binary(max_size=3000), st.integers(0, 2000))
def test_whatever_is_beside_whatever(base: bytes, own: bytes, start: int) -> None:
    content = base[start:] + own + base
    with SHARED.write() as connection:
        insert_blobs(connection, [base])
        digest = insert_beside(connection, content, base)
        assert insert_beside(connection, content, base) == digest
        assert select_blob(connection, digest) == content


def test_a_content_of_two_bases_outlives_either(store: Store) -> None:
    """Retention removes a round's task; the same answers to another task are still there."""
    content, other = WORDS[:2000], WORDS[::-1]
    with store.write() as connection:
        first, second = insert_blobs(connection, [WORDS, other])
        digest = insert_beside(connection, content, WORDS)
        assert insert_beside(connection, content, other) == digest
        connection.execute(blobs.delete().where(blobs.c.digest.in_([first, second])))
        assert select_blob(connection, digest) == content


def test_little_refers_to_nothing(store: Store) -> None:
    with store.write() as connection:
        insert_blobs(connection, [WORDS])
        digest = insert_beside(connection, b"[]", WORDS)
        count = connection.scalar(select(func.count()).select_from(blobs))
    assert not read_data(store, digest).startswith(BESIDE)
    assert count == 2


def test_a_content_without_its_base_names_the_base(store: Store) -> None:
    with store.write() as connection:
        (base,) = insert_blobs(connection, [WORDS])
        digest = insert_beside(connection, WORDS[:2000], WORDS)
        connection.execute(blobs.delete().where(blobs.c.digest == base))
    assert find_refusal(store, digest).startswith(f"blob_missing content {base[:16]}")
    other = next(compress_each([WORDS + b"!"], 3))
    put_data(store, base, other)
    assert find_refusal(store, digest).startswith(f"blob_damaged content {base[:16]}")


def test_bases_make_no_chain_and_no_circle(store: Store) -> None:
    own = digest_bytes(WORDS)
    put_data(store, own, BESIDE + bytes.fromhex(own) + compress_beside(WORDS, WORDS, 3))
    assert find_refusal(store, own).startswith("blob_damaged")
    with store.write() as connection:
        (base,) = insert_blobs(connection, [b"x" * 2000])
        connection.execute(
            update(blobs).where(blobs.c.digest == own).values(data=make_beside(base, WORDS, b"x" * 2000))
        )
    content = WORDS[:2000]
    put_data(store, digest_bytes(content), make_beside(own, content, WORDS))
    with store.read() as connection:
        assert select_blob(connection, own) == WORDS
    assert find_refusal(store, digest_bytes(content)).startswith("blob_damaged")


def make_beside(base: str, content: bytes, over: bytes) -> bytes:
    return BESIDE + bytes.fromhex(base) + compress_beside(content, over, 3)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"W",
        PLANES,
        PLANES + b"\xff",
        PLANES + b"\x01" + RUN.pack(4, 0, 2**62) + next(compress_each([WORDS], 3)),
        PLANES + b"\x01" + RUN.pack(4, 2**63, 1) + next(compress_each([WORDS], 3)),
        PLANES + b"\x02" + RUN.pack(4, 0, 1) + next(compress_each([WORDS], 3)),
        PLANES + b"\x00" + WORDS,
        BESIDE,
        BESIDE + bytes(10),
        struct.pack("<I", 0xFD2FB528),
    ],
)
def test_bytes_of_no_form_are_refused(store: Store, data: bytes) -> None:
    digest = digest_bytes(WORDS)
    put_data(store, digest, data)
    told = find_refusal(store, digest)
    assert told.startswith(("blob_damaged", "blob_missing"))


def test_a_bomb_is_not_blown_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its digest is right, so that only the limits stop it; they are lowered here, not left out."""
    for name in ("MAX_PLANES", "MAX_BASE"):
        monkeypatch.setattr(module, name, MEGABYTE)
    bomb = bytes(64 * MEGABYTE)
    digest = digest_bytes(bomb)
    pressed = next(compress_each([bomb], 3))
    base = digest_bytes(WORDS)
    forms = {
        "frames": pressed,
        "planes": PLANES + b"\x01" + RUN.pack(4, 0, 16 * MEGABYTE) + pressed,
        "beside": make_beside(base, bomb, WORDS),
    }
    for form, data in forms.items():
        store = Store("sqlite://")
        put_data(store, base, next(compress_each([WORDS], 3)))
        put_data(store, digest, data)
        over = digest_bytes(WORDS[:2000])
        put_data(store, over, make_beside(digest, WORDS[:2000], WORDS))
        with store.read() as connection:
            connection.execute(select(1))
            tracemalloc.start()
            try:
                for named in (digest, over):
                    with pytest.raises(WeighbeamError, match="blob_damaged"):
                        select_blob(connection, named, MEGABYTE)
                assert tracemalloc.get_traced_memory()[1] < 8 * MEGABYTE, form
            finally:
                tracemalloc.stop()
