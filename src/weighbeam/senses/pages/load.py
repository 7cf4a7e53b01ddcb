"""Pages by the name of their source."""

from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.pages.archive import ArchivePages
from weighbeam.senses.pages.live import LivePages, LiveSettings


def load_pages(source: str, browser: str | None = None) -> LivePages | ArchivePages:
    """`live` is the web, as a `browser` shows it if one is named, `archive:FOLDER` what was saved of it; any other name
    is `unknown_pages`."""
    if source == "live":
        return LivePages(LiveSettings(browser=browser))
    kind, _, folder = source.partition(":")
    if kind == "archive" and folder:
        return ArchivePages(Path(folder))
    raise WeighbeamError("unknown_pages", f"{source!r} names no source of pages", "write live or archive:FOLDER")
