"""A validator whose own machine is late charges nobody, in every mechanism; miners that are late themselves are
charged, however many they are.
"""

import asyncio
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from keyword_recall.mechanism import KeywordRecall, RecallParams

from engine.small_subnet import ALICE, START, open_store
from network.loopback import open_nonces, serve_app
from weighbeam.engine.journal.journal import CommittedRound, Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.journal.replay import replay
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.round import run_round
from weighbeam.engine.views.round_view import select_round_view
from weighbeam.engine.views.rounds import list_rounds
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.records import Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.miners.handlers import honest_miner
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.blame import Lateness
from weighbeam.network.endpoints import Endpoint
from weighbeam.network.keys import Hotkey
from weighbeam.network.miner_app import Handler, make_miner_app
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding
from weighbeam.senses.local import LocalSenses

pytestmark = pytest.mark.alone
NAMES = ("paragraphs", "sentences", "semchunk")
DEADLINE = 10.0
STALL_SECONDS = 1.5
"""More than any deadline allows."""
MECHANISMS = ("keyword-recall", "chunking", "inference", "evidence")


@dataclass
class Played:
    """A journal with rounds of one mechanism, and every alert that was raised."""

    context: RoundContext
    told: list[tuple[str, str, str]]
    rounds: list[CommittedRound]

    def statuses(self, name: str) -> list[tuple[str, str | None]]:
        kept = select_round(self.context.journal.store, name, self.context.mechanism)
        return [(answer.status, answer.reason) for answer in kept.answers]

    def rows(self, query: str) -> list[Any]:
        with self.context.journal.store.read() as connection:
            return [tuple(row) for row in connection.exec_driver_sql(query)]


class Miners:
    """Handlers that answer after some seconds, and say when the first was asked."""

    def __init__(self) -> None:
        self.asked = threading.Event()

    def slow_down(self, handler: Handler, seconds: float) -> Handler:
        async def answer(task: Any, deadline: float) -> Any:
            self.asked.set()
            await asyncio.sleep(seconds)
            return await handler(task, deadline)

        return answer

    async def stall(self) -> None:
        """Once they are asked, keep the validator's event loop from everything else, as a busy machine does."""
        while not self.asked.is_set():
            await asyncio.sleep(0.01)
        time.sleep(STALL_SECONDS)


@contextmanager
def serve(folder: Path, name: str, handlers: Mapping[str, Handler]) -> Iterator[dict[str, str]]:
    with ExitStack() as stack:
        found = {}
        for who, handler in handlers.items():
            policy = SenderPolicy(PolicySettings(per_minute=60000, burst=1000))
            policy.update({ALICE.address: SenderStanding(True, 10**12)})
            hotkey, nonces = Hotkey.from_uri(f"//{who}"), open_nonces(folder / f"{who}.sqlite")
            app = make_miner_app(hotkey, {name: handler}, nonces, policy)
            found[hotkey.address] = stack.enter_context(serve_app(app))
        yield found


def play(
    folder: Path,
    case: tuple[Mechanism, Params, Task, Mapping[str, Handler]],
    seconds: Sequence[float],
    senses: LocalSenses,
    stalled: Sequence[bool],
) -> Played:
    """Rounds r0, r1 … over one journal; each miner takes its seconds, the loop stalls where it says so."""
    mechanism, params, task, handlers = case
    told: list[tuple[str, str, str]] = []
    asker = Asker(ALICE, AskSettings(allow_private=True, per_address=64))
    context = RoundContext(mechanism, params, Journal(open_store(folder)), asker, senses)
    context = replace(context, tell=lambda *alert: told.append(alert))
    miners = Miners()

    async def play_one(number: int, endpoints: Mapping[str, str]) -> CommittedRound:
        uids = {hotkey: uid for uid, hotkey in enumerate(endpoints)}
        places = {hotkey: Endpoint(endpoint, "btauth/1", "chain") for hotkey, endpoint in endpoints.items()}
        moment = RoundStart(f"r{number}", f"s{number}", 1, START + number, uids, places)
        miners.asked.clear()
        stalling = asyncio.create_task(miners.stall() if stalled[number] else asyncio.sleep(0))
        done = await run_round(context, task, moment, list(uids))
        await stalling
        return done

    async def play_all(endpoints: Mapping[str, str]) -> list[CommittedRound]:
        return [await play_one(number, endpoints) for number in range(len(stalled))]

    slowed = {who: miners.slow_down(handlers[who], taken) for who, taken in zip(NAMES, seconds, strict=True)}
    with serve(folder, mechanism.name, slowed) as endpoints:
        rounds = asyncio.run(play_all(endpoints))
    assert [row.fault for row in replay(context.journal.store, lambda _: mechanism) if row.fault] == []
    return Played(context, told, rounds)


def say(reply: Any) -> Handler:
    async def answer(_: Any, __: float) -> Any:
        return reply

    return answer


async def recall(task: dict[str, Any], _: float) -> dict[str, str]:
    return {"text": " ".join(task["keywords"])}


def find_case(
    name: str, senses: LocalSenses, deadline: float = DEADLINE
) -> tuple[Mechanism, Params, Task, Mapping[str, Handler]]:
    """A mechanism, what it asks, and three miners that answer well."""
    if name == "keyword-recall":
        recalls, params = KeywordRecall(), RecallParams()
        return recalls, params, recalls.generate_task(params, "s"), dict.fromkeys(NAMES, recall)
    mechanism = load_mechanism(name)
    made = make_params(mechanism, {"timeout" if name == "chunking" else "timeout_seconds": deadline})
    example = mechanism.examples()[0]
    if name == "chunking":
        return mechanism, made, example.task, {who: honest_miner(who, senses) for who in NAMES}
    replies = [answer.payload for answer in example.answers if answer.status == "ok"]
    return mechanism, made, example.task, {who: say(reply) for who, reply in zip(NAMES, replies, strict=False)}


@pytest.mark.parametrize("name", MECHANISMS)
def test_a_round_with_a_stalled_loop_is_void(name: str, tmp_path: Path, senses: LocalSenses) -> None:
    played = play(tmp_path, find_case(name, senses), (0.3, 0.3, 0.3), senses, (False, True))
    before, late = played.rounds
    assert {score.status for score in before.scored.scores} != {"unscored"}
    assert [(score.status, score.value) for score in late.scored.scores] == [("unscored", None)] * 3
    assert played.statuses("r1") == [("validator_error", "late")] * 3
    assert late.standings == before.standings
    assert played.rows("SELECT round FROM evaluations WHERE round = 'r1'") == []
    assert {row[0] for row in played.rows("SELECT asked_at FROM miners")} == {START}, "it was no question"
    assert [(code, level) for code, level, _ in played.told] == [("late_machine", "warning")]
    assert "r1 is void because this machine was late: event loop up to 1." in played.told[0][2]


@pytest.mark.parametrize("name", MECHANISMS)
def test_it_is_shown_as_void_and_raises_nothing_else(name: str, tmp_path: Path, senses: LocalSenses) -> None:
    played = play(tmp_path, find_case(name, senses), (0.3, 0.3, 0.3), senses, (True,))
    store = played.context.journal.store
    assert played.rows("SELECT kind FROM outbox") == []
    assert played.rows("SELECT round FROM copies") == []
    (line,) = list_rounds(store).items
    assert (line.state, line.outcome, line.answers, line.valid) == ("scored", "void", 3, 0)
    view = select_round_view(store, "r0", withhold=False)
    assert view.outcome == "void"
    kept = Lateness(**(view.lateness or {}))
    assert kept.is_ours
    assert kept.lag > 1.0
    assert kept.reached == 3


def test_most_miners_cannot_void_a_round(tmp_path: Path, senses: LocalSenses) -> None:
    """Two of three belong to somebody who would rather not be compared."""
    played = play(tmp_path, find_case("chunking", senses, 5.0), (0.0, 8.0, 8.0), senses, (False,))
    assert played.statuses("r0") == [("ok", None), ("timeout", None), ("timeout", None)]
    assert [score.status for score in played.rounds[0].scored.scores] == ["valid", "failed", "failed"]
    assert played.told == []


def test_miners_that_are_all_late_are_charged(tmp_path: Path, senses: LocalSenses) -> None:
    played = play(tmp_path, find_case("chunking", senses, 5.0), (8.0, 8.0, 8.0), senses, (False,))
    assert [(score.status, score.value) for score in played.rounds[0].scored.scores] == [("failed", 0.0)] * 3
    assert played.told == []
    (line,) = list_rounds(played.context.journal.store).items
    assert line.outcome == "scored"


def test_a_round_after_a_void_one_counts_again(tmp_path: Path, senses: LocalSenses) -> None:
    played = play(tmp_path, find_case("keyword-recall", senses), (0.3, 0.3, 0.3), senses, (True, False))
    assert [score.status for score in played.rounds[1].scored.scores] == ["valid"] * 3
    body = select_round_view(played.context.journal.store, "r1", withhold=False)
    assert body.lateness is None
