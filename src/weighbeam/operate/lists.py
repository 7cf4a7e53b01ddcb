"""What `weighbeam lists` does: sign list files, and check them with the validator's own code."""

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.read_json import read_json
from weighbeam.network.keys import Hotkey
from weighbeam.network.sign_lists import find_signer, sign_list
from weighbeam.operate.identity import open_hotkey, read_hotkey
from weighbeam.operate.web import make_list_check
from weighbeam.senses.rulebook import read_list
from weighbeam.settings.load import Loaded


def open_signer(loaded: Loaded, wallet: Path | None, password_file: Path | None) -> Hotkey:
    """The key of a file, or that of the settings."""
    return open_hotkey(loaded) if wallet is None else read_hotkey(wallet, password_file)


def sign_files(places: Sequence[Path], hotkey: Hotkey) -> list[dict[str, Any]]:
    """Every file is checked before the first is written; each is replaced whole."""
    signed = []
    for path in list_files(places):
        read_list(path, make_list_check(None))
        signed.append((path, sign_list(read_json(path), hotkey)))
    for path, content in signed:
        half = path.with_name(f"{path.name}.half")
        try:
            half.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
            os.replace(half, path)
        except OSError as fault:
            raise WeighbeamError("cannot_write", f"{path}: {fault.strerror}", "sign a copy you may write") from None
    key = f"{hotkey.scheme}:{hotkey.address}"
    return [{"file": str(path), "list": one["list"], "version": one["version"], "key": key} for path, one in signed]


def check_files(places: Sequence[Path], key: str | None) -> list[dict[str, Any]]:
    """Each file with what it is, or why it would be refused."""
    check = make_list_check(key)
    rows = []
    for path in list_files(places):
        row: dict[str, Any] = {"file": str(path), "ok": False, "list": None, "version": None, "entries": None}
        row |= {"effective": None, "key": None, "fault": None}
        try:
            kept, signer = read_list(path, check), find_signer(read_json(path))
        except WeighbeamError as fault:
            rows.append({**row, "fault": f"{fault.code}: {fault.message}"})
            continue
        about = {"list": kept.name, "version": kept.listing.version, "entries": len(kept.listing.entries)}
        named = None if signer is None else f"{signer.scheme}:{signer.address}"
        rows.append({**row, **about, "ok": True, "effective": kept.effective, "key": named})
    return rows


def list_files(places: Sequence[Path]) -> list[Path]:
    found = list(_find_files(places))
    if not found:
        raise WeighbeamError("no_lists", "there is no list file there", "name *.json files, or a folder of them")
    return found


def _find_files(places: Sequence[Path]) -> Iterator[Path]:
    for place in places:
        yield from sorted(place.glob("*.json")) if place.is_dir() else [place]
