"""A validator that miners refuse charges nobody; a miner that refuses alone is charged, in every mechanism."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from keyword_recall.mechanism import KeywordRecall, RecallParams

from engine.recall import find
from engine.small_subnet import ALICE, START, hear_log, open_store
from network.loopback import open_nonces, serve_app
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.round import run_round
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Answer, Score
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.network.ask import Asker, AskSettings, MinerReply
from weighbeam.network.blame import blame_refused
from weighbeam.network.endpoints import Endpoint
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses

RECALL, PARAMS = KeywordRecall(), RecallParams()
NAMES = ("first", "second", "third")


async def recall(task: dict[str, Any], _: float) -> dict[str, str]:
    return {"text": " ".join(task["keywords"])}


@contextmanager
def serve(folder: Path, *permits: bool) -> Iterator[dict[str, str]]:
    """hotkey → endpoint of miners that see Alice with a permit, or without one."""
    with ExitStack() as stack:
        found = {}
        for name, permit in zip(NAMES, permits, strict=True):
            policy = SenderPolicy(PolicySettings(per_minute=60000, burst=1000))
            policy.update({ALICE.address: SenderStanding(permit, 10**12)})
            hotkey, nonces = Hotkey.from_uri(f"//{name}"), open_nonces(folder / f"{name}.sqlite")
            app = make_miner_app(hotkey, {RECALL.name: recall}, nonces, policy)
            found[hotkey.address] = stack.enter_context(serve_app(app))
        yield found


def play(folder: Path, *permits: bool) -> tuple[RoundContext, list[Score], list[tuple[str | None, str | None]]]:
    told: list[tuple[str, str, str]] = []
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    context = RoundContext(RECALL, PARAMS, Journal(open_store(folder)), asker, None)
    context = replace(context, tell=lambda *alert: told.append(alert))
    with serve(folder, *permits) as endpoints:
        uids = {hotkey: uid for uid, hotkey in enumerate(endpoints)}
        places = {hotkey: Endpoint(endpoint, "btauth/1", "chain") for hotkey, endpoint in endpoints.items()}
        moment = RoundStart("r", "s", 1, START, uids, places)
        done = asyncio.run(run_round(context, RECALL.generate_task(PARAMS, "s"), moment, list(uids)))
    scores = {score.hotkey: score for score in done.scored.scores}
    kept = {row.hotkey: row for row in select_round(context.journal.store, "r", RECALL).answers}
    assert [row.fault for row in replay(context.journal.store, find) if row.fault] == []
    assert [code for code, _, _ in told] == (["refused"] if sum(permits) < 2 else [])
    return context, [scores[one] for one in uids], [(kept[one].status, kept[one].reason) for one in uids]


def test_when_all_refuse_us_nobody_is_charged(tmp_path: Path) -> None:
    context, scores, kept = play(tmp_path, False, False, False)
    assert [(score.status, score.value) for score in scores] == [("unscored", None)] * 3
    assert kept == [("validator_error", "refused")] * 3
    assert [one.value for one in context.journal.standings(RECALL.name) if one.value is not None] == []


def test_who_answers_meanwhile_is_scored(tmp_path: Path) -> None:
    _, scores, kept = play(tmp_path, True, False, False)
    assert [score.status for score in scores] == ["valid", "unscored", "unscored"]
    assert kept[0] == ("ok", None)


def test_who_refuses_alone_is_charged(tmp_path: Path) -> None:
    _, scores, kept = play(tmp_path, True, True, False)
    assert [(score.status, score.value) for score in scores][2] == ("failed", 0.0)
    assert kept[2] == ("error", "403")


@pytest.mark.parametrize("reason", ["401", "403", "stale", "wrong_receiver"])
def test_every_refusal_of_us_counts(reason: str) -> None:
    status = "unreachable" if reason == "wrong_receiver" else "error"
    refusal, fine = MinerReply("a", status, reason, 0.1), MinerReply("b", "ok", None, 0.1)
    ours = ("validator_error", "clock" if reason == "stale" else "refused")
    assert [(one.status, one.reason) for one in blame_refused([refusal, refusal, fine])] == [ours, ours, ("ok", None)]
    assert blame_refused([refusal, fine]) == [refusal, fine]


@pytest.mark.parametrize(("status", "reason"), [("timeout", None), ("malformed", "json"), ("error", "busy")])
def test_whoever_was_reached_and_did_not_refuse_speaks_for_us(status: Any, reason: str | None) -> None:
    refusal, other = MinerReply("a", "error", "403", 0.1), MinerReply("b", status, reason, 0.1)
    assert blame_refused([refusal, other]) == [refusal, other]


@pytest.mark.parametrize(("status", "reason"), [("unreachable", "connect"), ("validator_error", "memory")])
def test_whoever_was_not_reached_says_nothing(status: Any, reason: str | None) -> None:
    refusal, other = MinerReply("a", "error", "403", 0.1), MinerReply("b", status, reason, 0.1)
    assert [one.status for one in blame_refused([refusal, other, other])] == ["validator_error", status, status]


@pytest.mark.parametrize("name", ["chunking", "inference", "evidence"])
def test_every_mechanism_leaves_it_unscored(name: str, senses: LocalSenses) -> None:
    """Everybody refused us in this round, as the engine hands it over."""
    mechanism = load_mechanism(name)
    example = mechanism.examples()[0]
    answers = tuple(Answer(f"m{n}", None, 0.1, "validator_error", n, "refused") for n in range(3))
    asked = replace(example, group=replace(example.group, members=tuple(a.hotkey for a in answers)), answers=answers)
    params = make_params(mechanism)
    scored = mechanism.score(params, mechanism.observe(params, asked, senses))
    assert [(score.status, score.value) for score in scored.scores] == [("unscored", None)] * 3
    assert [one for one in mechanism.stand(params, (), scored) if one.value is not None] == []


def test_it_is_logged_where_nobody_keeps_alerts(tmp_path: Path) -> None:
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    context = RoundContext(RECALL, PARAMS, Journal(open_store(tmp_path)), asker, None)
    with hear_log() as lines, serve(tmp_path, False, False, False) as endpoints:
        places = {hotkey: Endpoint(endpoint, "btauth/1", "chain") for hotkey, endpoint in endpoints.items()}
        moment = RoundStart("r", "s", 1, START, dict.fromkeys(endpoints, 0), places)
        asyncio.run(run_round(context, RECALL.generate_task(PARAMS, "s"), moment, list(endpoints)))
    assert any("most miners refuse this validator: error (403) 3" in line for line in lines)
