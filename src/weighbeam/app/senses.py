"""Open the senses from the settings: pages, lists, the assessor and the Ray cluster."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.suffixes import SUFFIXES as PUBLIC_SUFFIXES
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.registry import list_mechanisms, load_mechanism, load_usable
from weighbeam.senses.adapters.cluster.client import Cluster
from weighbeam.senses.adapters.cluster.connection import require_ray
from weighbeam.senses.adapters.cluster.messages import WorkerBounds
from weighbeam.senses.adapters.cluster.settings import ClusterSettings
from weighbeam.senses.adapters.lists import ListCheck
from weighbeam.senses.adapters.pages.live import LiveSettings
from weighbeam.senses.adapters.pages.web.fetch import USER_AGENT
from weighbeam.senses.adapters.pages.web.turns import last_two_labels
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import Assessor, ForgeryChecks, Narrator

if TYPE_CHECKING:
    # Only for its type: what scores a file opens senses too, and needs no database.
    from weighbeam.engine.alerts.alerts import Alerts

CLUSTER_ENDINGS = {
    "cluster_lost": "the cluster works again",
    "worker_differs": "every worker equals this machine again",
}


def open_cluster(loaded: LoadedSettings) -> Cluster | None:
    """None unless an address is set; joined when first used."""
    section = loaded.settings.cluster
    if section.address is None:
        return None
    require_ray("leave out cluster.address")
    told = f"cluster.address is {section.address!r}"
    require("://" not in section.address, "bad_config", told, "join a Ray node on this machine, and write HOST:PORT")
    bounds = WorkerBounds(section.min_workers, max(section.min_workers, section.max_workers), section.idle_seconds)
    return Cluster(ClusterSettings(section.address, bounds, section.patience_seconds))


def report_cluster(cluster: Cluster, alerts: "Alerts") -> None:
    """Send reports of the cluster to the alerts from now on."""
    cluster.watch.listen(partial(_alert_cluster, alerts), partial(_end_cluster_alerts, alerts))


def _alert_cluster(alerts: "Alerts", fault: WeighbeamError) -> None:
    alerts.tell(fault.code, "warning", fault.message)


def _end_cluster_alerts(alerts: "Alerts", code: str) -> None:
    alerts.end({code: CLUSTER_ENDINGS[code]})


EMBEDDED = "embedded"
WEB = ("http://", "https://")


def open_senses(loaded: LoadedSettings) -> LocalSenses:
    validator = loaded.settings.validator
    kind, _, folder = validator.pages.partition(":")
    archive = folder if kind == "archive" and folder else EMBEDDED if validator.pages == EMBEDDED else None
    if archive is None and validator.pages != "live":
        raise WeighbeamError("bad_config", f"validator.pages is {validator.pages!r}", "live, archive:PLACE or embedded")
    readers = list_page_readers(loaded.settings.mechanisms)
    if archive is None and validator.lists is None and readers:
        remedy = "name a folder with blacklist.json and approved.json; a list may be empty, not missing"
        raise WeighbeamError("bad_config", f"{readers[0]} is read from the web and validator.lists is not set", remedy)
    lists = None if validator.lists is None else loaded.path(validator.lists)
    return LocalSenses(
        validator.embedder,
        entailment=validator.entailment,
        assessor=open_assessor(validator.assessor),
        check_list=make_list_check(validator.lists_key, find_suffixes(archive)),
        only_newer=validator.lists_key is not None,
        doubts=ForgeryChecks(validator.second_read_seconds, validator.made_for_task),
        second_address=validator.second_address,
        cluster=open_cluster(loaded),
        **find_web(archive, lists, loaded.folder, _make_own_live_settings(loaded)),
    )


def list_page_readers(names: Iterable[str]) -> list[str]:
    """Those of the mechanisms that read pages."""
    usable, _ = load_usable(list(names))
    return [name for name, mechanism in usable.items() if mechanism.reads_pages]


@cache
def load_page_readers() -> tuple[Mechanism, ...]:
    """Every installed mechanism that reads pages; a package that does not load is reported where it is run."""
    found = []
    for name in sorted(list_mechanisms()):
        with suppress(WeighbeamError):
            found.append(load_mechanism(name))
    return tuple(mechanism for mechanism in found if mechanism.reads_pages)


def find_saved_pages() -> Mapping[str, Any]:
    """Options of the senses to read the pages that come with a mechanism."""
    found = next((saved for one in load_page_readers() if (saved := one.saved_pages())), None)
    if found is None:
        raise WeighbeamError("bad_config", "no mechanism here has saved pages", "write live or archive:PLACE")
    return found


def make_list_check(key: str | None, extra_suffixes: tuple[str, ...] = ()) -> ListCheck:
    """Make the check of a list file: readable entries and, if a key is named, its signature."""
    check_signature = None if key is None else _check_signatures(key)

    def check(content: Mapping[str, Any]) -> None:
        if check_signature is not None:
            check_signature(content)
        for mechanism in load_page_readers():
            mechanism.check_list(content["entries"], extra_suffixes)

    return check


def _check_signatures(key: str) -> Callable[[Mapping[str, Any]], None]:
    """Refuse lists that this key has not signed; without a key no library of signatures is needed."""
    from weighbeam.network.list_signatures import parse_list_key, require_signature

    wanted = parse_list_key(key)
    return lambda content: require_signature(content, wanted)


def find_suffixes(archive: str | None) -> tuple[str, ...]:
    suffixes: tuple[str, ...] = find_saved_pages()["extra_suffixes"] if archive == EMBEDDED else ()
    return suffixes


def make_live_settings(
    user_agent: str | None = None, robots: Literal["ignore", "respect"] = "ignore", browser: str | None = None
) -> LiveSettings:
    """How the web is read: reads of one registered domain, by the public suffix list, wait for each other."""
    return LiveSettings(user_agent=user_agent or USER_AGENT, robots=robots, browser=browser, domain_of=find_domain)


def _make_own_live_settings(loaded: LoadedSettings) -> LiveSettings:
    validator = loaded.settings.validator
    browser = validator.browser if validator.rendering == "on" else None
    return make_live_settings(validator.user_agent, validator.robots, browser)


def find_domain(host: str) -> str:
    """
    >>> find_domain("a.co.uk"), find_domain("www.a.co.uk"), find_domain("b.co.uk"), find_domain("a.unlisted")
    ('a.co.uk', 'a.co.uk', 'b.co.uk', 'a.unlisted')
    """
    return PUBLIC_SUFFIXES.find_domain(host) or last_two_labels(host)


def find_web(archive: str | None, lists: Path | None, folder: Path, live: LiveSettings | None = None) -> dict[str, Any]:
    """The senses' `pages`, `lists` and `extra_suffixes`; the archive's own lists count if no others are named."""
    if archive is None:
        return {"pages": "live", "lists": lists, "live": live or make_live_settings()}
    if live is not None and live.browser is not None:
        raise WeighbeamError("bad_config", "saved pages cannot be rendered", "turn rendering off, or read live pages")
    if archive == EMBEDDED:
        saved = find_saved_pages()
        return {**saved, "lists": lists or saved["lists"]}
    place = folder / Path(archive).expanduser()
    own = place / "lists"
    lists = lists or (own if own.is_dir() else None)
    return {"pages": f"archive:{place}", "lists": lists, "extra_suffixes": ()}


def open_assessor(given: str | None) -> Assessor | None:
    if given is None:
        return None
    from weighbeam.senses.adapters.chat.clients import OpenAIAssessor

    return OpenAIAssessor(*parse_endpoint_name("assessor", given))


def open_narrator(given: str) -> Narrator | None:
    """None is the deterministic one."""
    if given == "deterministic":
        return None
    from weighbeam.senses.adapters.chat.clients import OpenAINarrator

    return OpenAINarrator(*parse_endpoint_name("narrator", given))


def parse_endpoint_name(what: str, given: str) -> tuple[str, str]:
    """Model and URL of `openai:MODEL@URL`."""
    kind, _, rest = given.partition(":")
    model, _, url = rest.partition("@")
    if kind != "openai" or not model or not url.startswith(WEB):
        raise WeighbeamError("bad_config", f"the {what} is {given!r}", "write openai:MODEL@URL")
    return model, url
