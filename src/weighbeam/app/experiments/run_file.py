"""Load the records that Weights & Biases has written to a run's file."""

import json
import os
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

BLOCK = 32 * 1024
FILE_HEADER = 7
PIECE = struct.Struct("<IHB")
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4


def make_folder(folder: Path) -> None:
    """Where runs are kept; without a place of its own, wandb would keep them among temporary files."""
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError("wandb.folder cannot be written")


def load_records(path: Path, start: int = 0) -> Iterator[bytes]:
    """The whole records from the block of `start` on; one that is still being written is left out."""
    place = start // BLOCK * BLOCK
    with path.open("rb") as file:
        file.seek(place)
        data = file.read()
    at, parts = (FILE_HEADER if place == 0 else 0), b""
    while at + PIECE.size <= len(data):
        if BLOCK - at % BLOCK < PIECE.size:
            at += BLOCK - at % BLOCK
            continue
        _, length, kind = PIECE.unpack_from(data, at)
        piece = data[at + PIECE.size : at + PIECE.size + length]
        if len(piece) < length or kind not in (FULL, FIRST, MIDDLE, LAST):
            return
        at += PIECE.size + length
        parts = piece if kind in (FULL, FIRST) else parts + piece
        if kind in (FULL, LAST):
            yield parts


def load_history(path: Path, start: int = 0) -> list[dict[str, Any]]:
    """Load the logged values, unchanged."""
    messages: Any = import_module("wandb.proto.wandb_internal_pb2")
    rows = []
    for data in load_records(path, start):
        record = messages.Record()
        try:
            record.ParseFromString(data)
        except Exception:
            continue
        if record.WhichOneof("record_type") == "history":
            rows.append(_parse_items(record.history.item))
    return rows


def _parse_items(items: Any) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for item in items:
        *path, last = list(item.nested_key) or [item.key]
        here = row
        for name in path:
            here = here.setdefault(name, {})
        here[last] = json.loads(item.value_json)
    return row
