"""Every reason of spec § 3 as a miner can earn it: real HTTPS pages on loopback, observed, scored and explained."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from mechanisms.evidence.small_web import (
    APPROVED,
    BLACK,
    BREAD,
    HIDDEN,
    INSIDE,
    OTHER,
    PLAIN,
    QUOTE,
    REMARK,
    SHORT,
    STATEMENT,
    SUN,
    WAYBACK,
    YOUNG,
    SmallWeb,
    open_small_web,
)
from tests_root import ROOT
from weighbeam.mechanism.records import Answer, Asked, Group, Node, Observation, Scored, Task
from weighbeam.mechanisms.evidence.mechanism import Evidence
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.senses.adapters.pages.parsing.parsers import ParserPool
from weighbeam.senses.local import LocalSenses

EVIDENCE, PARAMS = Evidence(), EvidenceParams()
SLOW = 60.0


def quote(url: object, excerpt: object = QUOTE) -> dict[str, object]:
    return {"snippets": [{"url": url, "excerpt": excerpt}]}


@dataclass(frozen=True)
class Case:
    """What a miner sends, under which senses, and the code it is to get; None is accepted."""

    name: str
    code: str | None
    payload: object
    senses: str = "sound"
    status: Any = "ok"
    at: str | None = None
    """The URL at which a rejection by URL is to happen."""


CASES = [
    Case("silent", "unreachable_miner", None, status="timeout"),
    Case("not there", "unreachable_miner", None, status="unreachable"),
    Case("no list", "invalid_response", {"snippets": "none"}),
    Case("no object", "invalid_response", [quote(PLAIN)]),
    Case("not JSON", "invalid_response", None, status="malformed"),
    Case("too large", "invalid_response", {**quote(f"{PLAIN}/article"), "padding": "x" * (256 << 10)}),
    Case("empty", "no_statements", {"snippets": []}),
    Case("user in URL", "malformed_url", quote("https://someone@www.oldtides.org/article")),
    Case("URL no text", "malformed_url", quote(7)),
    Case("user by hop", "malformed_url", quote(f"{PLAIN}/to-user")),
    Case("http", "non_https", quote("http://www.oldtides.org/article")),
    Case("http by hop", "non_https", quote(f"{PLAIN}/to-http")),
    Case("blacklisted", "blacklisted_domain", quote(f"{BLACK}/article")),
    Case("blacklisted by hop", "blacklisted_domain", quote(f"{PLAIN}/to-black"), at=f"{BLACK}/article"),
    Case("address", "forbidden_target", quote("https://127.0.0.1/article")),
    Case("port", "forbidden_target", quote(f"{PLAIN}:8443/article")),
    Case("no domain", "forbidden_target", quote("https://intranet/article")),
    Case("address by hop", "forbidden_target", quote(f"{PLAIN}/to-address"), at="https://10.0.0.1/article"),
    Case("port by hop", "forbidden_target", quote(f"{PLAIN}/to-port"), at=f"{PLAIN}:8443/article"),
    Case("guard", "forbidden_target", quote(f"{INSIDE}/article")),
    Case("guard by hop", "forbidden_target", quote(f"{PLAIN}/to-inside")),
    Case("search", "search_url", quote("https://www.google.com/search?q=tides")),
    Case("search by hop", "search_url", quote(f"{PLAIN}/to-search"), at="https://www.google.com/search?q=tides"),
    Case("echo", "search_url", quote(f"{PLAIN}/article?text={QUOTE.replace(' ', '+')}")),
    Case("short", "invalid_excerpt", quote(f"{PLAIN}/article", "the Moon")),
    Case("no text", "invalid_excerpt", quote(f"{PLAIN}/article", None)),
    Case("half a character", "invalid_excerpt", quote(f"{PLAIN}/article", f"{QUOTE} \ud800")),
    Case("identical", "too_similar", quote(f"{PLAIN}/article", STATEMENT)),
    Case("paraphrase", "too_similar", quote(f"{PLAIN}/article", STATEMENT.replace("that makes", "which makes"))),
    Case("young domain", "recent_domain", quote(f"{YOUNG}/article")),
    Case("young by hop", "recent_domain", quote(f"{PLAIN}/to-young")),
    Case("404", "page_gone", quote(f"{PLAIN}/nowhere")),
    Case("410", "page_gone", quote(f"{PLAIN}/removed")),
    Case("503", "page_unavailable", quote(f"{PLAIN}/down")),
    Case("dawdler", "page_unavailable", quote(f"{PLAIN}/slow"), "hurried"),
    Case("no such host", "page_unavailable", quote("https://lost.oldtides.org/article")),
    Case("redirector", "page_unavailable", quote(f"{SHORT}/article")),
    Case("results page", "search_page", quote(f"{PLAIN}/results")),
    Case("model: search", "search_page", quote(f"{PLAIN}/article"), "model is_search"),
    Case("hidden", "fake_snippet", quote(f"{PLAIN}/article", HIDDEN)),
    Case("dropped not", "fake_snippet", quote(f"{PLAIN}/article", SUN.replace("not ", ""))),
    Case("model: fake", "fake_snippet", quote(f"{PLAIN}/article"), "model fake"),
    Case("absent", "snippet_not_found", quote(f"{PLAIN}/article", "the Moon is the queen of every tide there is")),
    Case("other number", "snippet_not_found", quote(f"{PLAIN}/article", SUN.replace("390", "490"))),
    Case("bread", "unrelated_page", quote(f"{PLAIN}/article", BREAD)),
    Case("model: unrelated", "unrelated_page", quote(f"{PLAIN}/article"), "model unrelated"),
    Case("no embedder", "validator_fault", quote(f"{PLAIN}/article"), "embedder down"),
    Case("no entailment", "validator_fault", quote(f"{PLAIN}/article"), "entailment down"),
    Case("no network", "validator_fault", quote("https://lost.oldtides.org/article"), "network down"),
    Case("ours", "validator_fault", None, status="validator_error"),
    Case("plain", None, quote(f"{PLAIN}/article")),
    Case("approved", None, quote(f"{APPROVED}/article")),
    Case("comment", None, quote(f"{APPROVED}/article", REMARK)),
    Case("redirected", None, quote(f"{PLAIN}/to-other")),
    Case("redirected to approved", None, quote(f"{PLAIN}/to-approved")),
    Case("archive copy", None, quote(f"{WAYBACK}/web/2020/{APPROVED}/article")),
    Case("reached while probes fail", None, quote(f"{PLAIN}/article"), "network down"),
    Case("model: supports", None, quote(f"{PLAIN}/article"), "model agrees"),
    Case("model: mumbles", None, quote(f"{PLAIN}/article"), "model mumbles"),
]
BY_NAME = {case.name: case for case in CASES}


@dataclass(frozen=True)
class Played:
    """A round that was observed and scored."""

    observation: Observation
    scored: Scored
    params: EvidenceParams = PARAMS

    @property
    def rows(self) -> list[dict[str, Any]]:
        return EVIDENCE.report(self.params, self.observation, self.scored)["answers"]

    @property
    def row(self) -> dict[str, Any]:
        return self.rows[0]

    @property
    def snippet(self) -> dict[str, Any]:
        return self.row["snippets"][0]

    @property
    def codes(self) -> set[str]:
        return {code for score in self.scored.scores for code in score.reasons}


def play(web: SmallWeb, answers: tuple[Answer, ...], senses: str = "sound", params: EvidenceParams = PARAMS) -> Played:
    asked = Asked(Task("t", {"statement": STATEMENT}), Group(tuple(a.hotkey for a in answers)), answers, "seed")
    observation = EVIDENCE.observe(params, asked, web.senses[senses])
    return Played(observation, EVIDENCE.score(params, observation), params)


@pytest.fixture(scope="module")
def web(senses: LocalSenses, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallWeb]:
    parsers = ParserPool()
    with open_small_web(senses, tmp_path_factory.mktemp("web"), parsers) as opened:
        yield opened
    parsers.close()


@pytest.fixture(scope="module")
def played(web: SmallWeb) -> dict[str, Played]:
    return {case.name: play(web, (Answer("a", case.payload, SLOW, case.status),), case.senses) for case in CASES}


@pytest.fixture(scope="module")
def copied(web: SmallWeb) -> Played:
    own = {"snippets": [{"url": f"{PLAIN}/article", "excerpt": QUOTE}]}
    longer = {"snippets": [{"url": f"{PLAIN}/article?utm_source=x", "excerpt": f"because {QUOTE}"}]}
    return play(web, (Answer("late", longer, 9.0), Answer("early", own, 8.0)))


@pytest.mark.parametrize("name", BY_NAME)
def test_each_case_gets_its_code_and_its_penalty(name: str, played: dict[str, Played]) -> None:
    case, done = BY_NAME[name], played[name]
    score = done.scored.scores[0]
    if case.code is None:
        assert (score.status, score.reasons) == ("valid", ())
        assert done.snippet["accepted"]
        worth = done.snippet["local"] * done.snippet["relevance_factor"] * done.snippet["multiplier"]
        assert score.value == done.snippet["score"] == worth
    elif case.code == "validator_fault":
        assert (score.status, score.value, score.reasons) == ("unscored", None, ("validator_fault",))
    else:
        assert (score.status, score.reasons) == ("failed", (case.code,))
        assert score.value == getattr(PARAMS, f"penalty_{case.code}")
    if case.at is not None:
        assert done.snippet["url"] == case.at


@pytest.mark.parametrize("name", BY_NAME)
def test_each_case_is_explained_and_replays(name: str, played: dict[str, Played]) -> None:
    done = played[name]
    again = Observation.unpack(done.observation.pack())
    assert EVIDENCE.score(PARAMS, again).as_json() == done.scored.as_json()
    told = flatten(EVIDENCE.explain(PARAMS, again, done.scored, "a"))
    code = BY_NAME[name].code
    assert ("accepted" if code is None else "unscored" if code == "validator_fault" else code) in told


def flatten(node: Node) -> str:
    return "\n".join([node.text, *map(flatten, node.children)])


def test_the_codes_produced_are_those_of_the_specification(played: dict[str, Played], copied: Played) -> None:
    text = (ROOT / "docs/spec/evidence.md").read_text("utf-8")
    table = text.partition("## 3. ")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("|")]
    written = {code for row in rows[2:] for code in re.findall("`([a-z_]+)`", row[3])}
    assert len(written) == 19
    assert set[str]().union(copied.codes, *(done.codes for done in played.values())) == written


def test_nothing_is_read_of_a_snippet_that_fails_before_its_page(web: SmallWeb) -> None:
    unread = [case for case in CASES if case.code in UNREAD and "hop" not in case.name and case.name != "guard"]
    before, dialled = len(web.site.requests), len(web.network.dialled)
    for case in unread:
        play(web, (Answer("a", case.payload, SLOW, case.status),))
    assert len(unread) > 12
    assert (len(web.site.requests), len(web.network.dialled)) == (before, dialled)


UNREAD = (
    "malformed_url non_https blacklisted_domain forbidden_target search_url invalid_excerpt too_similar"
    " invalid_response no_statements unreachable_miner"
).split()


def test_only_the_address_that_is_allowed_was_ever_dialled(web: SmallWeb, played: dict[str, Played]) -> None:
    assert set(web.network.dialled) == {"127.0.0.1"}


def test_an_approved_source_counts_three_times_but_not_its_readers_comments(played: dict[str, Played]) -> None:
    multipliers = {
        name: played[name].snippet["multiplier"]
        for name in ("plain", "approved", "comment", "redirected", "redirected to approved", "archive copy")
    }
    assert multipliers == {
        "plain": 1,
        "approved": 3,
        "comment": 1,
        "redirected": 1,
        "redirected to approved": 3,
        "archive copy": 1,
    }


def test_flags_say_what_is_odd_about_an_accepted_snippet(played: dict[str, Played]) -> None:
    flags = {case.name: played[case.name].snippet["flags"] for case in CASES if case.code is None}
    assert flags == {
        "plain": [],
        "approved": [],
        "comment": ["user_content"],
        "redirected": ["age_unknown", "redirected"],
        "redirected to approved": ["redirected"],
        "archive copy": [],
        "reached while probes fail": [],
        "model: supports": [],
        "model: mumbles": ["unassessed"],
    }


def test_a_redirect_earns_what_its_target_earns(played: dict[str, Played]) -> None:
    snippet = played["redirected"].snippet
    assert (snippet["domain"], snippet["page"]) == ("harbourlog.net", "www.harbourlog.net/article".removeprefix("www."))
    assert snippet["hops"] == [f"{PLAIN}/to-other", f"{OTHER}/article"]
    archived = played["archive copy"].snippet
    assert (archived["domain"], archived["page"]) == ("seaobservatory.org", "seaobservatory.org/article")


def test_ages_come_from_the_registry(played: dict[str, Played]) -> None:
    assert played["plain"].snippet["age_days"] == pytest.approx(4000.5, abs=0.1)
    assert played["young domain"].snippet["age_days"] == pytest.approx(12, abs=0.1)
    assert played["redirected"].snippet["age_days"] is None


def test_a_copy_keeps_nothing_it_gained(copied: Played) -> None:
    late, early = copied.scored.scores
    assert (late.status, late.value, late.reasons) == ("failed", 0.0, ("duplicate_statements",))
    assert early.status == "valid"
    assert early.value is not None
    assert early.value > 0
    told = flatten(EVIDENCE.explain(PARAMS, copied.observation, copied.scored, "late"))
    assert "most of early" in told
    assert "the same quote is snippet 1 of early, which came first and is paid" in told


def test_one_round_of_everything_is_the_same_in_any_order(web: SmallWeb, played: dict[str, Played]) -> None:
    """Miners side by side earn what each earned alone, unless one copied another."""
    answers = [Answer(case.name, case.payload, SLOW, case.status) for case in CASES if case.senses == "sound"]
    kept = {name: played[name].scored.scores[0] for name in BY_NAME}
    for order in (answers, answers[::-1]):
        done = play(web, tuple(order))
        for score in done.scored.scores:
            if "duplicate_statements" not in score.reasons:
                assert (score.value, score.reasons) == (kept[score.hotkey].value, kept[score.hotkey].reasons)


def test_later_snippets_are_neither_read_nor_scored(web: SmallWeb) -> None:
    rows = [{"url": f"{PLAIN}/article", "excerpt": QUOTE}] * 5 + [{"url": f"{PLAIN}/never", "excerpt": QUOTE}] * 2
    before = len(web.site.requests)
    done = play(web, (Answer("a", {"snippets": rows}, SLOW),))
    assert {request.target for request in web.site.requests[before:]} <= {"/article", "/domain/oldtides.org"}
    factors = [snippet["domain_factor"] for snippet in done.row["snippets"]]
    assert (factors, done.row["extra"]) == ([1, None, None, None, None], 2)


def test_a_quote_that_is_sent_twice_is_paid_once(web: SmallWeb) -> None:
    rows = [{"url": f"{PLAIN}/article", "excerpt": QUOTE}] * 2
    one, two = (play(web, (Answer("a", {"snippets": rows[:count]}, SLOW),)).scored.scores[0] for count in (1, 2))
    assert (two.status, two.value, two.reasons) == ("valid", one.value, ("partly_copied",))
    assert two.parts is not None
    assert two.parts["snippets"][1]["copy_of"] == {"hotkey": "a", "snippet": 1}
    assert two.parts["snippets"][1]["lost"] == pytest.approx(two.parts["snippets"][0]["score"] / 2)
    paid = play(web, (Answer("a", {"snippets": rows}, SLOW),), params=PARAMS.model_copy(update={"copies": "answer"}))
    assert [row["domain_factor"] for row in paid.row["snippets"]] == [1, 0.5]
