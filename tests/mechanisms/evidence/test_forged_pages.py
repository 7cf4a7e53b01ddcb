"""Pages that show one reader what they hide from another, and pages made to order: second read and probe."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from mechanisms.evidence.small_web import (
    ARTICLE,
    OTHER,
    PLAIN,
    QUOTE,
    STATEMENT,
    SUN,
    GivenSenses,
    SmallWeb,
    open_small_web,
)
from senses.adapters.pages.tls_servers import PATIENT, Request, Talk, page, redirect, say
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.records import Answer, Asked, Group, Observation, Task
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.pages.reading import is_made_for_task
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.adapters.pages.live import LivePages, LiveSettings, load_pages_from
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.adapters.pages.web.guard import dial
from weighbeam.senses.local import LocalSenses
from weighbeam.senses.ports.protocols import ForgeryChecks

EVIDENCE, PARAMS = Evidence(), EvidenceParams()
AGAIN = ForgeryChecks(second_read_seconds=0.05)
HARMLESS = ARTICLE.replace(QUOTE, "of the pull of the Moon")


def take_turns(*talks: Talk) -> Talk:
    """Answers each request in another way; the last way stays."""
    turns = iter(talks)

    async def talk(request: Request, writer: asyncio.StreamWriter) -> None:
        await next(turns, talks[-1])(request, writer)

    return talk


async def tell_by_address(_: Request, writer: asyncio.StreamWriter) -> None:
    known = writer.get_extra_info("peername")[0] == "127.0.0.1"
    await say(writer, 200, (ARTICLE if known else HARMLESS).encode())


def stamp(moment: float) -> Talk:
    said = time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime(moment))
    return page(f'<meta property="article:published_time" content="{said}">{ARTICLE}')


@pytest.fixture(scope="module")
def web(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    parsers = ParserPool()
    with open_small_web(senses, tmp_path_factory.mktemp("web"), parsers) as opened:
        yield opened
    parsers.close()


def observe(senses: GivenSenses, path: str, excerpt: str = QUOTE, at: float | None = None) -> Observation:
    answers = (Answer("m", {"snippets": [{"url": f"{PLAIN}{path}", "excerpt": excerpt}]}, 60.0),)
    return EVIDENCE.observe(
        PARAMS, Asked(Task("t", {"statement": STATEMENT}), Group(("m",)), answers, "s", {}, at), senses
    )


def judge(observation: Observation) -> tuple[Any, str | None, str]:
    """The second read, the reason, and the explanation."""
    scored = EVIDENCE.score(PARAMS, observation)
    row = EVIDENCE.report(PARAMS, observation, scored)["answers"][0]
    told = repr(EVIDENCE.explain(PARAMS, observation, scored, "m"))
    return row["snippets"][0]["second_read"], row["reason"], told


CASES: dict[str, tuple[Talk, str | None, str | None]] = {
    "cloaked": (page(HARMLESS), "absent", "fake_snippet"),
    "as before": (page(ARTICLE), "found", None),
    "padded": (page(f"<p>Breaking news.</p>{ARTICLE}"), "found", None),
    "hidden now": (page(HARMLESS + f"<p hidden>{QUOTE}</p>"), "absent", "fake_snippet"),
    "blocked": (page("slow down", status=429), None, None),
    "gone": (page("gone", status=404), None, None),
    "down": (page("later", status=503), None, None),
    "moved": (redirect(f"{OTHER}/results"), None, None),
    "empty": (page(""), None, None),
}


@pytest.mark.parametrize("name", CASES)
def test_only_a_second_read_that_lacks_the_excerpt_is_evidence(name: str, web: SmallWeb) -> None:
    later, second, reason = CASES[name]
    path = f"/turns-{name.replace(' ', '-')}"
    web.site.paths[path] = take_turns(page(ARTICLE), later)
    found = judge(observe(replace(web.senses["sound"], doubts=AGAIN), path))
    assert found[:2] == (second, reason)
    assert ("second read: absent" in found[2]) == (second == "absent")


def test_a_number_that_counts_on_is_no_forgery(web: SmallWeb) -> None:
    web.site.paths["/counts"] = take_turns(page(ARTICLE), page(ARTICLE.replace("390", "391")))
    assert judge(observe(replace(web.senses["sound"], doubts=AGAIN), "/counts", SUN))[:2] == (None, None)


def test_nothing_is_read_twice_by_default(web: SmallWeb) -> None:
    web.site.paths["/once"] = take_turns(page(ARTICLE), page(HARMLESS))
    observation = observe(web.senses["sound"], "/once")
    assert judge(observation)[:2] == (None, None)
    assert "doubts" not in observation.facts["senses"]
    assert [request.target for request in web.site.requests].count("/once") == 1


def test_a_second_reader_comes_from_another_address(web: SmallWeb) -> None:
    """The page knows the address of the first reader, and shows the quote to nobody else."""
    web.site.paths["/for-us"] = tell_by_address
    guard = replace(web.network.guard(), connect=lambda address, port: dial(address, web.site.port, "127.0.0.2"))
    parsers = ParserPool()
    other = LivePages(LiveSettings(limits=PATIENT, probe_urls=()), guard, parsers)
    sound = replace(web.senses["sound"], doubts=AGAIN)
    assert judge(observe(sound, "/for-us"))[:2] == ("found", None)
    observation = observe(replace(sound, second_pages=other), "/for-us")
    assert judge(observation)[:2] == ("absent", "fake_snippet")
    assert observation.facts["senses"]["doubts"]["second_read_seconds"] == 0.05
    other.close()


def test_a_second_reader_without_its_address_charges_nobody(web: SmallWeb) -> None:
    nowhere = replace(web.network.guard(), connect=partial(dial, source="192.0.2.1"))
    parsers = ParserPool()
    other = LivePages(LiveSettings(limits=PATIENT, probe_urls=()), nowhere, parsers)
    assert judge(observe(replace(web.senses["sound"], doubts=AGAIN, second_pages=other), "/article"))[:2] == (
        None,
        None,
    )
    other.close()
    with pytest.raises(WeighbeamError, match="bad_config"):
        load_pages_from("eth1")


@pytest.mark.parametrize(
    ("published", "made", "reason"),
    [(-20.0, True, "fake_snippet"), (-86_400.0, False, None), (8 * 3_600.0, None, None), (None, None, None)],
)
def test_a_page_that_says_it_is_younger_than_its_task(
    published: float | None, made: bool | None, reason: str | None, web: SmallWeb
) -> None:
    """The task was sent a minute ago; eight hours ahead is a clock in another zone."""
    now = time.time()
    web.site.paths["/stamped"] = page(ARTICLE) if published is None else stamp(now + published)
    senses = replace(web.senses["sound"], doubts=ForgeryChecks(made_for_task=True))
    observation = observe(senses, "/stamped", at=now - 60)
    assert observation.facts["miners"][0]["snippets"][0]["made_for_task"] is made
    _, found, told = judge(observation)
    assert found == reason
    assert ("published after the task" in told) == bool(made)
    unasked = observe(web.senses["sound"], "/stamped", at=now - 60)
    assert judge(unasked)[1] is None


def test_what_cannot_be_told_is_no_evidence() -> None:
    assert is_made_for_task(None, 1.0, 2.0) is None
    assert is_made_for_task(1.0, None, 2.0) is None
