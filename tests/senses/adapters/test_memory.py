"""The embedding cache: bounded, shared, and never wrong."""

import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from weighbeam.senses.adapters.memory import DiskVectors, RememberingEmbedder


class Counting:
    """An embedder cheap enough to count: a text's vector is its length."""

    id, digest, dimensions = "counting", "1", 3

    def __init__(self) -> None:
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        self.seen += texts
        return np.array([[len(text), 1, -1] for text in texts], dtype=np.int32)


def test_each_distinct_text_is_embedded_once() -> None:
    inner = Counting()
    memory = RememberingEmbedder(inner)
    first = memory.embed(["a", "bb", "a"])
    assert first.tolist() == [[1, 1, -1], [2, 1, -1], [1, 1, -1]]
    assert np.array_equal(memory.embed(["bb", "a"]), first[1::1])
    assert inner.seen == ["a", "bb"]
    assert (memory.hits, memory.misses) == (2, 2)


def test_memory_is_bounded_and_forgets_the_least_used() -> None:
    inner = Counting()
    memory = RememberingEmbedder(inner, limit=2)
    memory.embed(["a", "bb"])
    memory.embed(["a"])
    memory.embed(["ccc"])
    memory.embed(["a"])
    assert inner.seen == ["a", "bb", "ccc"]
    memory.embed(["bb"])
    assert inner.seen[-1] == "bb"


def test_the_disk_remembers_between_runs_and_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    disk = DiskVectors(path, limit=10)
    RememberingEmbedder(Counting(), disk).embed([f"text {i:03}" for i in range(50)])
    disk.close()
    rows = sqlite3.connect(path).execute("SELECT COUNT(*) FROM vectors").fetchone()[0]
    assert rows <= 10
    inner = Counting()
    again = RememberingEmbedder(inner, DiskVectors(path, limit=10)).embed(["text 049", "new"])
    assert inner.seen == ["new"]
    assert again.tolist() == [[8, 1, -1], [3, 1, -1]]


def test_vectors_of_another_embedder_are_not_taken(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    RememberingEmbedder(Counting(), DiskVectors(path)).embed(["a"])
    other = Counting()
    other.digest = "2"
    RememberingEmbedder(other, DiskVectors(path)).embed(["a"])
    assert other.seen == ["a"]


def test_a_flipped_bit_on_disk_costs_a_recomputation_and_no_wrong_vector(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    disk = DiskVectors(path)
    RememberingEmbedder(Counting(), disk).embed(["a", "bb"])
    disk.close()
    db = sqlite3.connect(path)
    db.execute("UPDATE vectors SET vector = x'0900000001000000ffffffff' WHERE id = 1")
    db.commit()
    inner = Counting()
    again = RememberingEmbedder(inner, DiskVectors(path)).embed(["a", "bb"])
    assert again.tolist() == [[1, 1, -1], [2, 1, -1]]
    assert inner.seen == ["a"]


def test_a_file_that_is_no_database_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    path.write_bytes(b"this is not a database at all, " * 100)
    disk = DiskVectors(path)
    RememberingEmbedder(Counting(), disk).embed(["a"])
    disk.close()
    inner = Counting()
    RememberingEmbedder(inner, DiskVectors(path)).embed(["a"])
    assert inner.seen == []


def test_a_locked_database_is_waited_for_then_done_without(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    disk = DiskVectors(path)
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    assert RememberingEmbedder(Counting(), disk).embed(["a"]).tolist() == [[1, 1, -1]]
    lock.execute("ROLLBACK")


def test_a_folder_that_cannot_be_made_means_no_disk(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    disk = DiskVectors(tmp_path / "file" / "vectors.sqlite")
    assert RememberingEmbedder(Counting(), disk).embed(["a"]).tolist() == [[1, 1, -1]]


def test_threads_share_one_memory(tmp_path: Path) -> None:
    memory = RememberingEmbedder(Counting(), DiskVectors(tmp_path / "vectors.sqlite"), limit=50)
    faults: list[Exception] = []

    def work(offset: int) -> None:
        try:
            for i in range(60):
                texts = [f"{'x' * ((i + offset) % 40)}" for _ in range(3)]
                assert memory.embed(texts)[0, 0] == len(texts[0])
        except Exception as fault:
            faults.append(fault)

    threads = [threading.Thread(target=work, args=(7 * n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults


def test_a_kept_vector_does_not_keep_its_whole_batch() -> None:
    memory = RememberingEmbedder(Counting(), limit=10)
    memory.embed([f"text {i}" for i in range(1000)])
    assert all(vector.base is None for vector in memory._memory.values())


def test_a_vector_of_another_type_on_disk_is_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "vectors.sqlite"
    disk = DiskVectors(path)
    RememberingEmbedder(Counting(), disk).embed(["a"])
    disk.close()
    db = sqlite3.connect(path)
    db.execute("UPDATE vectors SET vector = 'text'")
    db.commit()
    assert RememberingEmbedder(Counting(), DiskVectors(path)).embed(["a"]).tolist() == [[1, 1, -1]]
