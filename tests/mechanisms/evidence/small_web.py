"""A small web on loopback for end-to-end tests of evidence: pages, redirects, a registry and a chat model, all real."""

import asyncio
import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from senses.adapters.pages.tls_servers import AUTHORITY, PATIENT, QUICK, Network, Site, page, redirect, serve_site
from senses.chat_server import ChatHandler, complete, serve_chat
from weighbeam.senses.adapters.chat.clients import OpenAIAssessor
from weighbeam.senses.adapters.lists import FolderRulebook
from weighbeam.senses.adapters.pages.domain_age import AgeSettings, RdapAges
from weighbeam.senses.adapters.pages.limits import PageLimits
from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.local import LocalSenses, SystemClock
from weighbeam.senses.ports.protocols import (
    Ages,
    Assessor,
    Embedder,
    Entailment,
    ForgeryChecks,
    ObservationClock,
    Pages,
    Rulebook,
    Sentiment,
)

PLAIN, OTHER = "https://www.oldtides.org", "https://www.harbourlog.net"
APPROVED, BLACK, YOUNG = "https://www.seaobservatory.org", "https://www.badwater.org", "https://www.newborn.org"
SHORT, WAYBACK, INSIDE = "https://bit.ly", "https://web.archive.org", "https://inside.oldtides.org"
NAMES = ("oldtides.org", "harbourlog.net", "seaobservatory.org", "badwater.org", "newborn.org", "registry.org")
DAY = 86_400

STATEMENT = "It is chiefly the Moon that makes the sea rise and fall."
QUOTE = "the pull of the Moon is stronger on the near side of the Earth than on the far side"
SUN = "The Sun does not raise the higher tides on its own, since it is 390 times farther away"
HIDDEN = "The Moon alone makes every sea of the world rise and fall twice a day"
REMARK = "I have watched how the Moon makes the sea rise and fall at our pier"
BREAD = "Knead the dough for ten minutes and let it rest in a warm bowl"

ARTICLE = f"""<title>Tides</title><h1>Why the sea rises</h1>
<p>Twice a day the water comes and goes, because {QUOTE}. {SUN}.</p>
<p style="display:none">{HIDDEN}.</p><p>{BREAD}.</p>
<div class="comments"><p>{REMARK}.</p></div>"""
RESULTS = f"""<title>Search results for tides</title><form action="/search"><input type="search" value="tides"></form>
<p>{QUOTE}</p>"""


async def dawdle(_: object, writer: asyncio.StreamWriter) -> None:
    """Headers at once, and then a byte now and then."""
    writer.write(b"HTTP/1.1 200 X\r\nContent-Type: text/html\r\n\r\n")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.1)


def register(days: float) -> Any:
    date = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() - days * DAY))
    events = [{"eventAction": "registration", "eventDate": date}]
    return page(json.dumps({"events": events}), "Content-Type: application/rdap+json")


PATHS = {
    "/article": page(ARTICLE),
    "/again": page(ARTICLE),
    "/results": page(RESULTS),
    "/down": page("later", status=503),
    "/removed": page("gone", status=410),
    "/slow": dawdle,
    "/to-http": redirect("http://www.oldtides.org/article"),
    "/to-black": redirect(f"{BLACK}/article"),
    "/to-address": redirect("https://10.0.0.1/article"),
    "/to-port": redirect(f"{PLAIN}:8443/article"),
    "/to-inside": redirect(f"{INSIDE}/article"),
    "/to-user": redirect("https://someone@www.oldtides.org/article"),
    "/to-search": redirect("https://www.google.com/search?q=tides"),
    "/to-young": redirect(f"{YOUNG}/article"),
    "/to-other": redirect(f"{OTHER}/article"),
    "/to-approved": redirect(f"{APPROVED}/article"),
    "/web/2020/https://www.seaobservatory.org/article": page(ARTICLE),
    "/domain/oldtides.org": register(4000.5),
    "/domain/seaobservatory.org": register(9000),
    "/domain/newborn.org": register(12),
}

CANARY = re.compile(r'"canary": "([0-9a-f]+)"')
SIGNALS = "sentiment conviction source_credibility narrative_momentum risk_reward catalyst political_leaning".split()


def opine(status: str, is_search: bool = False) -> Any:
    """A chat model that holds this opinion of everything."""

    def behave(handler: ChatHandler) -> None:
        found = CANARY.search(handler.body["messages"][0]["content"])
        assert found is not None
        said = {
            "status": status,
            "is_search": is_search,
            "injection": False,
            "canary": found[1],
            "reason": "It says so.",
            "signals": dict.fromkeys(SIGNALS, 0.5),
        }
        handler.reply(200, json.dumps(complete(json.dumps(said))).encode())

    return behave


def mumble(handler: ChatHandler) -> None:
    handler.reply(200, json.dumps(complete("I would rather not say.")).encode())


MODELS = {
    "agrees": opine("supports"),
    "unrelated": opine("Unrelated"),
    "fake": opine("fake"),
    "is_search": opine("supports", True),
    "mumbles": mumble,
}


@dataclass(frozen=True)
class GivenSenses:
    """The senses of one validator, of which a test may exchange any."""

    embedder: Embedder
    entailment: Entailment
    pages: Pages
    ages: Ages
    rulebook: Rulebook
    sentiment: Sentiment
    assessor: Assessor | None = None
    clock: ObservationClock = field(default_factory=SystemClock)
    second_pages: Pages | None = None
    doubts: ForgeryChecks = field(default_factory=ForgeryChecks)

    def sentences(self, name: str) -> Any:
        raise AssertionError(f"evidence asks for no splitter, and not for {name}")


class Down:
    """A model whose process is gone."""

    def __init__(self, real: Any) -> None:
        self.id, self.digest = real.id, real.digest
        self.dimensions = getattr(real, "dimensions", 3)

    def embed(self, texts: object) -> Any:
        raise ConnectionError("the model is gone")

    judge = embed


@dataclass(frozen=True)
class SmallWeb:
    """The web, and a validator's senses on it by what is wrong with them."""

    site: Site
    network: Network
    senses: dict[str, GivenSenses]


def write_lists(folder: Path) -> Path:
    folder.mkdir()
    for name, entries in (("blacklist", ["badwater.org"]), ("approved", ["seaobservatory.org"])):
        rows = [{"match": entry, "reason": "test", "added": "2020-01-01"} for entry in entries]
        content = {"list": name, "version": 3, "effective": "2020-01-01", "entries": rows}
        (folder / f"{name}.json").write_text(json.dumps(content), "utf-8")
    return folder


@contextmanager
def open_small_web(local: LocalSenses, folder: Path, parsers: ParserPool) -> Iterator[SmallWeb]:
    hosts = [name for domain in NAMES for name in (domain, f"*.{domain}")]
    certificate = AUTHORITY.issue_cert(*hosts, "bit.ly", "web.archive.org", "*.example.org")
    with ExitStack() as stack:
        site = stack.enter_context(serve_site(dict(PATHS), certificate))
        network = Network(site.port, {"inside.oldtides.org": ["10.0.0.1"], "lost.oldtides.org": [], "cut.org": []})

        def open_pages(*probes: str, limits: PageLimits = PATIENT) -> LivePages:
            return LivePages(LiveSettings(limits=limits, probe_urls=probes), network.guard(), parsers)

        ages = RdapAges(AgeSettings("https://rdap.registry.org/", limits=PATIENT), network.guard())
        sound = GivenSenses(
            local.embedder,
            local.entailment,
            open_pages(f"{PLAIN}/article"),
            ages,
            FolderRulebook(write_lists(folder / "lists")),
            local.sentiment,
        )
        senses = {
            "sound": sound,
            "embedder down": replace(sound, embedder=Down(sound.embedder)),
            "entailment down": replace(sound, entailment=Down(sound.entailment)),
            "network down": replace(sound, pages=open_pages("https://cut.org/")),
            "hurried": replace(sound, pages=open_pages(f"{PLAIN}/article", limits=QUICK)),
        }
        for name, behaviour in MODELS.items():
            server = stack.enter_context(serve_chat(behaviour))
            senses[f"model {name}"] = replace(sound, assessor=OpenAIAssessor("judge", server.url, seconds=5.0))
        yield SmallWeb(site, network, senses)
        ages.close()
        for pages in {id(one.pages): one.pages for one in senses.values()}.values():
            pages._loop.close()
            pages._threads.shutdown()
