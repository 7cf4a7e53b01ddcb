"""Run one mechanism of a validator: play its rounds, and set its weights on a chain."""

import asyncio
import secrets
import threading
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

from weighbeam.chain.contract import ChainRules, Metagraph
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.journal import CommittedRound
from weighbeam.engine.requests.organic import (
    OrganicRequest,
    answer_request,
    fail_request,
    release_request,
    require_bound,
    take_next,
)
from weighbeam.engine.rounds.collection import collect_rounds
from weighbeam.engine.rounds.context import RoundContext, RoundStart
from weighbeam.engine.rounds.exclusion import count_excluded
from weighbeam.engine.rounds.permit import find_bar
from weighbeam.engine.rounds.recovery import finish_rounds, recover_requests
from weighbeam.engine.rounds.round import observe_round, run_round
from weighbeam.engine.rounds.tasks import TaskSource
from weighbeam.engine.support.clock import EngineClock
from weighbeam.engine.support.observers import select_alive
from weighbeam.engine.support.process import run_in_thread
from weighbeam.engine.support.spans import Span, trace
from weighbeam.engine.weights.assessment import WeighInContext, derive_limits, find_eligible
from weighbeam.engine.weights.discovery import find_operators
from weighbeam.engine.weights.metagraphs import note_if_due
from weighbeam.engine.weights.weigh_in import WeighInResult, weigh_in
from weighbeam.mechanism.records import Collector, Task

Which = Literal["any", "asked", "own"]


@dataclass(frozen=True, slots=True)
class MechanismRunner:
    """One mechanism at work: dependencies of its rounds and weigh-ins, and the source of its tasks.

    `require_permit`: miners are asked only while the hotkey that signs questions holds a validator permit. That is
    `proxy`, if a proxy's key signs in place of our hotkey's.
    """

    round_context: RoundContext
    weigh_in_context: WeighInContext
    tasks: TaskSource
    clock: EngineClock
    collector: Collector | None = None
    require_permit: bool = True
    proxy: str | None = None
    one_at_a_time: threading.Lock = field(default_factory=threading.Lock)
    owed: deque[tuple[str, str]] = field(default_factory=deque)

    @property
    def name(self) -> str:
        return self.round_context.mechanism.name

    def recover(self) -> list[str]:
        """Finish what a crash, a faulty store or an observer left open; gives the rounds and requests touched."""
        context = self.round_context
        journal, mechanism, playing = context.journal, context.mechanism, context.playing

        def is_played(round_id: str, by: str | None) -> bool:
            return round_id in playing if by is None else by in alive

        with self.one_at_a_time:
            alive = select_alive(journal.store)
            rounds = finish_rounds(journal, {self.name: mechanism}, playing)
            return rounds + recover_requests(journal, mechanism, is_played)

    async def play_round(self, which: Which = "any") -> CommittedRound:
        """Play one round with the serving miners: an organic request if one waits, else our own task. `asked` or `own`
        restricts it; `nothing_new` if another process took the request. A collecting mechanism takes what came in.
        """
        with trace("round", mechanism=self.name) as span:
            done = await self._play(which, span)
            span.note(round=done.id, answers=len(done.scored.scores))
            return done

    async def _play(self, which: Which, span: Span) -> CommittedRound:
        moment, miners = await self._look()
        span.note(block=moment.block, eligible=len(miners))
        if self.collector is not None:
            return await collect_rounds(self.round_context, self.collector, moment)
        journal, mechanism = self.round_context.journal, self.round_context.mechanism
        self.round_context.playing.add(moment.round_id)
        try:
            request = None if which == "own" else await asyncio.to_thread(self._take, moment)
            if which == "asked" and request is None:
                raise WeighbeamError("nothing_new", f"no request for {self.name} is waiting", "nothing to do")
            try:
                done = await run_round(self.round_context, await self._find_task(moment, request), moment, miners)
            except Exception as fault:
                await asyncio.to_thread(self._fail, moment, request, fault)
                raise
            if request is not None:
                await run_in_thread(answer_request, journal, request.id, moment.round_id, mechanism)
            return done
        finally:
            self.round_context.playing.discard(moment.round_id)

    async def observe_request(self, by: str) -> str | None:
        """Play the next request's round for the validator to score, as the observer `by`; None if there is none."""
        moment, miners = await self._look()
        request = await self._take_or_put_back(moment, by)
        if request is None:
            return None
        try:
            bound = partial(require_bound, request_id=request.id, round_id=moment.round_id)
            with trace("round", mechanism=self.name, round=moment.round_id, block=moment.block):
                await observe_round(self.round_context, request.task, moment, miners, bound)
        except asyncio.CancelledError:
            self._put_back(moment, request)
            raise
        except Exception as fault:
            self.owed.append((request.id, moment.round_id))
            await asyncio.to_thread(self._fail, moment, request, fault)
            raise
        return moment.round_id

    async def _take_or_put_back(self, moment: RoundStart, by: str) -> OrganicRequest | None:
        """A thread goes on when its task is cancelled: what it takes after that is put back, or nobody plays it."""
        taking = asyncio.ensure_future(asyncio.to_thread(self._take, moment, by))
        try:
            return await asyncio.shield(taking)
        except asyncio.CancelledError:
            if (request := await taking) is not None:
                self._put_back(moment, request)
            raise

    def _put_back(self, moment: RoundStart, request: OrganicRequest) -> None:
        self.owed.append((request.id, moment.round_id))
        with suppress(WeighbeamError):
            self.let_go()

    def let_go(self) -> None:
        """Requeue the unfinished requests of this observer, because no other process does, once the store
        can be written. What was failed stays failed."""
        with self.one_at_a_time:
            while self.owed:
                release_request(self.round_context.journal.store, *self.owed[0])
                self.owed.popleft()

    async def observe_own(self) -> str:
        """Play a round of our own for the validator to score."""
        moment, miners = await self._look()
        with trace("round", mechanism=self.name, round=moment.round_id, block=moment.block):
            await observe_round(self.round_context, await self._find_task(moment, None), moment, miners)
        return moment.round_id

    async def _look(self) -> tuple[RoundStart, list[str]]:
        """Snapshot the chain and list the miners to ask.

        Known miners are read first, so one met meanwhile is not taken for departed.
        """
        known_before = await asyncio.to_thread(self.round_context.journal.known, self.name)
        graph, rules = await self.weigh_in_context.chain.metagraph(), await self.weigh_in_context.chain.rules()
        self._note(graph, rules)
        endpoints = await self.weigh_in_context.discovery.look(graph)
        known = await asyncio.to_thread(self.weigh_in_context.validators)
        eligible = find_eligible(self.weigh_in_context, graph, derive_limits(rules), endpoints, known)
        miners = await run_in_thread(self._find_candidates, graph, eligible.hotkeys)
        poor = len(eligible.hotkeys) - len(miners)
        moment = RoundStart(
            round_id=f"{self.name}-{graph.block}-{secrets.token_hex(4)}",
            seed=secrets.token_hex(16),
            block=graph.block,
            at=self.clock.now(),
            uids={neuron.hotkey: neuron.uid for neuron in graph.neurons},
            endpoints=endpoints,
            entities=find_operators(graph, endpoints),
            known=frozenset(known_before),
            barred=self._find_bar(graph, rules),
            exclusion=count_excluded(eligible.excluded.values(), poor, len(miners)),
        )
        return moment, miners

    def _find_bar(self, graph: Metagraph, rules: ChainRules) -> WeighbeamError | None:
        """Why miners would refuse us; nobody refuses where nobody is asked."""
        if self.collector is not None or not self.require_permit:
            return None
        own = self.weigh_in_context.own_hotkey
        return find_bar(self.proxy or own, graph, rules, own)

    async def _find_task(self, moment: RoundStart, request: OrganicRequest | None) -> Task:
        return request.task if request else await run_in_thread(self.tasks, moment.seed)

    def _take(self, moment: RoundStart, by: str | None = None) -> OrganicRequest | None:
        return take_next(self.round_context.journal.store, self.name, moment.round_id, moment.at, by)

    def _find_candidates(self, graph: Metagraph, eligible: Sequence[str]) -> list[str]:
        """Miners that the mechanism may ask: those with its minimum stake, if it has one."""
        least = self.round_context.mechanism.min_stake_rao(self.round_context.params)
        staked = {neuron.hotkey for neuron in graph.neurons if neuron.stake >= least}
        return [hotkey for hotkey in eligible if hotkey in staked]

    async def weigh_in(self) -> WeighInResult:
        with trace("weigh_in", mechanism=self.name) as span:
            done = await weigh_in(self.weigh_in_context, self.clock.now())
            span.note(action=done.decision.action, reason=done.decision.reason, mode=done.mode.mode)
        if done.reading is not None:
            self._note(done.reading.graph, done.reading.rules, always=True)
        return done

    def _note(self, graph: Metagraph | None, rules: ChainRules | None, always: bool = False) -> None:
        """Record the metagraph for display, without delaying the round."""
        if graph is not None and rules is not None:
            given = (
                self.round_context.journal.store,
                self.name,
                graph,
                rules,
                self.clock.now(),
                self.weigh_in_context.own_hotkey,
                always,
            )
            asyncio.get_running_loop().run_in_executor(None, note_if_due, *given)

    def _fail(self, moment: RoundStart, request: OrganicRequest | None, fault: Exception) -> None:
        """A request fails with its round; what only the store kept from its answer stays taken, for `recover`."""
        known = fault if isinstance(fault, WeighbeamError) else WeighbeamError("round_discarded", type(fault).__name__)
        if request is not None and known.code != "store_fault":
            fail_request(self.round_context.journal.store, request.id, moment.round_id, known.code, known.message)
