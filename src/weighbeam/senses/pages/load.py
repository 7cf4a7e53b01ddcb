"""Pages by the name of their source."""

from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.pages.archive import ArchivePages
from weighbeam.senses.pages.live import LivePages, LiveSettings


def load_pages(source: str, settings: LiveSettings | None = None) -> LivePages | ArchivePages:
    """`live` is the web, `archive:PLACE` what was saved of it in a folder or a WARC file; else `unknown_pages`."""
    if source == "live":
        return LivePages(settings)
    kind, _, folder = source.partition(":")
    if kind == "archive" and folder:
        return ArchivePages(Path(folder))
    raise WeighbeamError("unknown_pages", f"{source!r} names no source of pages", "write live or archive:PLACE")
