"""Sign and check list files, and record web pages in an archive."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from weighbeam.app.identity import load_hotkey, open_hotkey
from weighbeam.app.senses import make_list_check
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.suffixes import SUFFIXES
from weighbeam.engine.journal.recall import select_mechanism, select_round
from weighbeam.engine.support.json_files import load_json
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.network.keys import Hotkey
from weighbeam.network.list_signatures import find_signer, sign_list
from weighbeam.senses.adapters.lists import load_list
from weighbeam.senses.adapters.pages.archive.folder import FolderRecorder
from weighbeam.senses.adapters.pages.archive.warc_pages import ENDINGS
from weighbeam.senses.adapters.pages.archive.warc_recorder import WarcRecorder
from weighbeam.senses.adapters.pages.live import LivePages
from weighbeam.senses.adapters.pages.outcome import ReadRefused
from weighbeam.senses.adapters.pages.web.fetch import Fetched
from weighbeam.senses.adapters.pages.web.url import parse_page_url
from weighbeam.senses.ports.page import Page
from weighbeam.senses.ports.protocols import Ages
from weighbeam.store.database import Store


def open_signer(loaded: LoadedSettings, wallet: Path | None, password_file: Path | None) -> Hotkey:
    """The key of a file, or that of the settings."""
    return open_hotkey(loaded) if wallet is None else load_hotkey(wallet, password_file)


def sign_files(places: Sequence[Path], hotkey: Hotkey) -> list[dict[str, Any]]:
    """Every file is checked before the first is written; each is replaced whole."""
    signed = []
    for path in list_files(places):
        load_list(path, make_list_check(None))
        signed.append((path, sign_list(load_json(path), hotkey)))
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
            kept, signer = load_list(path, check), find_signer(load_json(path))
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


Keep = Callable[[Fetched], None]


class PageArchiveWriter(Protocol):
    """An archive that is being written."""

    def keep(self, fetched: Fetched) -> None: ...

    def keep_age(self, domain: str, age_days: float | None) -> None: ...

    def close(self) -> None: ...


def open_archive_writer(out: Path) -> PageArchiveWriter:
    """A WARC file by its name, else a folder; what is there already is kept."""
    return WarcRecorder(out) if out.name.endswith(ENDINGS) else FolderRecorder(out)


def record_pages(
    urls: Sequence[str], out: Path, open_live: Callable[[Keep], LivePages], ages: Ages | None
) -> list[Page]:
    """Read every URL as a validator would, and keep how that went; gives the pages."""
    try:
        keeper = open_archive_writer(out)
        live = open_live(keeper.keep)
        try:
            pages = live.read_all(urls)
        finally:
            live.close()
        domains = list_domains(pages)
        for domain, age in zip(domains, ages.age_days_of(domains) if ages else [], strict=ages is not None):
            keeper.keep_age(domain, age)
        keeper.close()
    except OSError as fault:
        raise WeighbeamError("cannot_write", f"{out}: {fault.strerror}", "name a place that can be written") from None
    return pages


def list_domains(pages: Iterable[Page]) -> list[str]:
    """The registered domains that the pages are in, each once."""
    found = set()
    for page in pages:
        try:
            found.add(SUFFIXES.find_domain(parse_page_url(page.url).host))
        except ReadRefused:
            continue
    return sorted(domain for domain in found if domain is not None)


def list_round_urls(store: Store, round_id: str) -> list[str]:
    """The URLs whose pages a round of evidence read."""
    name = select_mechanism(store, round_id)
    kept = select_round(store, round_id, load_mechanism(name))
    miners = kept.observation.facts.get("miners", [])
    rows = [row for miner in miners for row in miner.get("snippets", []) if "hops" in row.get("page", {})]
    return list(dict.fromkeys(row["page"]["hops"][0]["url"] for row in rows))
