"""Where a validator reads pages and who judges them, from its settings; the embedded archive needs no network."""

from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.bank import SUFFIXES, find_archive
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports import Assessor, Doubts
from weighbeam.settings.load import Loaded

EMBEDDED = "embedded"
WEB = ("http://", "https://")


def open_senses(loaded: Loaded) -> LocalSenses:
    validator = loaded.settings.validator
    kind, _, folder = validator.pages.partition(":")
    archive = folder if kind == "archive" and folder else EMBEDDED if validator.pages == EMBEDDED else None
    if archive is None and validator.pages != "live":
        raise WeighbeamError("bad_config", f"validator.pages is {validator.pages!r}", "live, archive:DIR or embedded")
    if archive is None and validator.lists is None and "evidence" in loaded.settings.mechanisms:
        remedy = "name a folder with blacklist.json and approved.json; a list may be empty, not missing"
        raise WeighbeamError("bad_config", "evidence is read from the web and validator.lists is not set", remedy)
    lists = None if validator.lists is None else loaded.path(validator.lists)
    return LocalSenses(
        validator.embedder,
        entailment=validator.entailment,
        assessor=open_assessor(validator.assessor),
        doubts=Doubts(validator.second_read_seconds, validator.made_for_task),
        second_address=validator.second_address,
        **find_web(archive, lists, loaded.folder),
    )


def find_web(archive: str | None, lists: Path | None, folder: Path) -> dict[str, Any]:
    """The senses' `pages`, `lists` and `extra_suffixes`; the archive's own lists count if no others are named."""
    if archive is None:
        return {"pages": "live", "lists": lists}
    place = find_archive() if archive == EMBEDDED else folder / Path(archive).expanduser()
    own = place / "lists"
    suffixes = SUFFIXES if archive == EMBEDDED else ()
    return {"pages": f"archive:{place}", "lists": lists or (own if own.is_dir() else None), "extra_suffixes": suffixes}


def open_assessor(given: str | None) -> Assessor | None:
    if given is None:
        return None
    from weighbeam.senses.assessor_openai import OpenAIAssessor

    return OpenAIAssessor(*read_endpoint_name("assessor", given))


def read_endpoint_name(what: str, given: str) -> tuple[str, str]:
    """Model and URL of `openai:MODEL@URL`."""
    kind, _, rest = given.partition(":")
    model, _, url = rest.partition("@")
    if kind != "openai" or not model or not url.startswith(WEB):
        raise WeighbeamError("bad_config", f"the {what} is {given!r}", "write openai:MODEL@URL")
    return model, url
