"""The index of an archive: one JSON file that says which page is in which file, and where it came from."""

import json
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.pages.outcome import ReadRefused
from weighbeam.senses.adapters.pages.web.url import parse_page_url
from weighbeam.senses.ports.page import PageOutcome

INDEX = "index.json"
REMEDY = "correct it; the page 'Senses' shows one"


class SavedHop(BaseModel):
    """A hop as it is written."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    status: int | None = None
    address: str | None = None


class SavedPage(BaseModel):
    """A page as it is written. `hops` are those after `url`; without `file` there is no content, `outcome` says why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: str
    hops: tuple[SavedHop, ...] = ()
    status: int | None = 200
    address: str | None = None
    content_type: str = "text/html; charset=utf-8"
    robots: str = ""
    file: str | None = None
    outcome: PageOutcome | None = None
    fault: str | None = None
    date: str | None = None
    age_days: float | None = Field(default=None, allow_inf_nan=False)


class ArchiveIndex(BaseModel):
    """All pages of an archive, and the ages of domains."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1] = 1
    pages: tuple[SavedPage, ...] = ()
    ages: dict[str, float | None] = Field(default_factory=dict)


def load_index(folder: Path) -> ArchiveIndex:
    """The index of a folder; `bad_archive` if it is missing or no index."""
    try:
        return ArchiveIndex.model_validate(json.loads((folder / INDEX).read_bytes()))
    except (OSError, ValueError, RecursionError) as fault:
        what = fault.errors()[0]["msg"] if isinstance(fault, ValidationError) else str(fault)
        raise WeighbeamError("bad_archive", f"{folder / INDEX}: {what}", REMEDY) from None


def locate_archive_file(folder: Path, name: str) -> Path:
    """A file of the archive; `bad_archive` if it lies outside, by name or through a link."""
    root = folder.resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root) or path == root:
        raise WeighbeamError("bad_archive", f"{name!r} is not inside {folder}", REMEDY)
    return path


def page_key(url: str) -> str:
    """One spelling per URL that can be asked for.

    >>> page_key("HTTPS://Example.org") == page_key("https://example.org/#top")
    True
    """
    try:
        return parse_page_url(url).url
    except ReadRefused:
        return url
