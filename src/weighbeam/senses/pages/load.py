"""Pages by the name of their source."""

import ipaddress
from functools import partial
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.pages.archive import ArchivePages
from weighbeam.senses.pages.guard import Guard, dial
from weighbeam.senses.pages.live import LivePages, LiveSettings


def load_pages(source: str, settings: LiveSettings | None = None) -> LivePages | ArchivePages:
    """`live` is the web, `archive:PLACE` what was saved of it in a folder or a WARC file; else `unknown_pages`."""
    if source == "live":
        return LivePages(settings)
    kind, _, folder = source.partition(":")
    if kind == "archive" and folder:
        return ArchivePages(Path(folder))
    raise WeighbeamError("unknown_pages", f"{source!r} names no source of pages", "write live or archive:PLACE")


def load_pages_from(address: str, settings: LiveSettings | None = None) -> LivePages:
    """The web, as it shows itself to one of this machine's other addresses; `bad_config` if that is none."""
    try:
        ipaddress.ip_address(address)
    except ValueError:
        raise WeighbeamError("bad_config", f"{address!r} is no address", "name an address of this machine") from None
    return LivePages(settings, Guard(connect=partial(dial, source=address)))
