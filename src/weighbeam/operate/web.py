"""Where a validator reads pages and who judges them, from its settings; the embedded archive needs no network."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.evidence.bank import SUFFIXES, find_archive
from weighbeam.mechanisms.evidence.lists import read_lists
from weighbeam.mechanisms.evidence.suffixes import SUFFIXES as PUBLIC_SUFFIXES
from weighbeam.network.sign_lists import read_list_key, require_signature
from weighbeam.operate.cluster import open_cluster
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.pages.fetch import USER_AGENT
from weighbeam.senses.pages.gate import last_two_labels
from weighbeam.senses.pages.live import LiveSettings
from weighbeam.senses.ports import Assessor, Doubts
from weighbeam.senses.rulebook import Check
from weighbeam.settings.load import Loaded

EMBEDDED = "embedded"
WEB = ("http://", "https://")


def open_senses(loaded: Loaded) -> LocalSenses:
    validator = loaded.settings.validator
    kind, _, folder = validator.pages.partition(":")
    archive = folder if kind == "archive" and folder else EMBEDDED if validator.pages == EMBEDDED else None
    if archive is None and validator.pages != "live":
        raise WeighbeamError("bad_config", f"validator.pages is {validator.pages!r}", "live, archive:PLACE or embedded")
    if archive is None and validator.lists is None and "evidence" in loaded.settings.mechanisms:
        remedy = "name a folder with blacklist.json and approved.json; a list may be empty, not missing"
        raise WeighbeamError("bad_config", "evidence is read from the web and validator.lists is not set", remedy)
    lists = None if validator.lists is None else loaded.path(validator.lists)
    return LocalSenses(
        validator.embedder,
        entailment=validator.entailment,
        assessor=open_assessor(validator.assessor),
        check_list=make_list_check(validator.lists_key, find_suffixes(archive)),
        only_newer=validator.lists_key is not None,
        doubts=Doubts(validator.second_read_seconds, validator.made_for_task),
        second_address=validator.second_address,
        cluster=open_cluster(loaded),
        **find_web(archive, lists, loaded.folder, _write_own(loaded)),
    )


def make_list_check(key: str | None, extra_suffixes: tuple[str, ...] = ()) -> Check:
    """What a list file has to satisfy: entries that can be read and, if a key is named, its signature."""
    wanted = None if key is None else read_list_key(key)

    def check(content: Mapping[str, Any]) -> None:
        if wanted is not None:
            require_signature(content, wanted)
        read_lists(content["entries"], None, list(extra_suffixes))

    return check


def find_suffixes(archive: str | None) -> tuple[str, ...]:
    return SUFFIXES if archive == EMBEDDED else ()


def write_live(
    user_agent: str | None = None, robots: Literal["ignore", "respect"] = "ignore", browser: str | None = None
) -> LiveSettings:
    """How the web is read: reads of one registered domain, by the public suffix list, wait for each other."""
    return LiveSettings(user_agent=user_agent or USER_AGENT, robots=robots, browser=browser, domain_of=find_domain)


def _write_own(loaded: Loaded) -> LiveSettings:
    validator = loaded.settings.validator
    browser = validator.browser if validator.rendering == "on" else None
    return write_live(validator.user_agent, validator.robots, browser)


def find_domain(host: str) -> str:
    """
    >>> find_domain("a.co.uk"), find_domain("www.a.co.uk"), find_domain("b.co.uk"), find_domain("a.unlisted")
    ('a.co.uk', 'a.co.uk', 'b.co.uk', 'a.unlisted')
    """
    return PUBLIC_SUFFIXES.find_domain(host) or last_two_labels(host)


def find_web(archive: str | None, lists: Path | None, folder: Path, live: LiveSettings | None = None) -> dict[str, Any]:
    """The senses' `pages`, `lists` and `extra_suffixes`; the archive's own lists count if no others are named."""
    if archive is None:
        return {"pages": "live", "lists": lists, "live": live or write_live()}
    if live is not None and live.browser is not None:
        raise WeighbeamError("bad_config", "saved pages are not rendered", "turn rendering off, or read live pages")
    place = find_archive() if archive == EMBEDDED else folder / Path(archive).expanduser()
    own = place / "lists"
    lists = lists or (own if own.is_dir() else None)
    return {"pages": f"archive:{place}", "lists": lists, "extra_suffixes": find_suffixes(archive)}


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
