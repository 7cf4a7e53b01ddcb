"""Save pages of the web in an archive, with the ages of their domains: what `weighbeam pages record` does."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.kept_round import find_mechanism, read_round
from weighbeam.mechanisms.evidence.suffixes import SUFFIXES
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.senses.pages.ends import Refused
from weighbeam.senses.pages.fetch import Fetched
from weighbeam.senses.pages.live import LivePages
from weighbeam.senses.pages.place import read_place
from weighbeam.senses.pages.record import Recorder
from weighbeam.senses.pages.warc_record import WarcRecorder
from weighbeam.senses.pages.warc_shelf import ENDINGS
from weighbeam.senses.ports import Ages, Page
from weighbeam.store.database import Store

Keep = Callable[[Fetched], None]


class Keeper(Protocol):
    """An archive that is being written."""

    def keep(self, fetched: Fetched) -> None: ...

    def keep_age(self, domain: str, age_days: float | None) -> None: ...

    def close(self) -> None: ...


def open_keeper(out: Path) -> Keeper:
    """A WARC file by its name, else a folder; what is there already is kept."""
    return WarcRecorder(out) if out.name.endswith(ENDINGS) else Recorder(out)


def record_pages(
    urls: Sequence[str], out: Path, open_live: Callable[[Keep], LivePages], ages: Ages | None
) -> list[Page]:
    """Read every URL as a validator would, and keep how that went; gives the pages."""
    try:
        keeper = open_keeper(out)
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
            found.add(SUFFIXES.find_domain(read_place(page.url).host))
        except Refused:
            continue
    return sorted(domain for domain in found if domain is not None)


def list_round_urls(store: Store, round_id: str) -> list[str]:
    """The URLs whose pages a round of evidence read."""
    name = find_mechanism(store, round_id)
    kept = read_round(store, round_id, load_mechanism(name))
    miners = kept.observation.facts.get("miners", [])
    rows = [row for miner in miners for row in miner.get("snippets", []) if "hops" in row.get("page", {})]
    return list(dict.fromkeys(row["page"]["hops"][0]["url"] for row in rows))
