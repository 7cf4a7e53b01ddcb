"""A validator: one post per mechanism, each with rounds to play and weights to set on a chain."""

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from weighbeam.chain.contract import Metagraph, Rules
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.clock import Clock
from weighbeam.engine.collect import collect_rounds
from weighbeam.engine.insight.metagraph import note_quietly
from weighbeam.engine.journal import Committed
from weighbeam.engine.operators import find_operators
from weighbeam.engine.organic import Request, answer_request, fail_request, recover_requests, take_next
from weighbeam.engine.round import Bench, Moment, finish_rounds, run_round
from weighbeam.engine.tasks import TaskSource
from weighbeam.engine.weigh_in.assess import Scale, find_eligible, scale_limits
from weighbeam.engine.weigh_in.run import WeighedIn, weigh_in
from weighbeam.mechanisms.contract import Collector


@dataclass(frozen=True, slots=True)
class Post:
    """One mechanism at work: what it asks with, what it weighs with, where its tasks come from."""

    bench: Bench
    scale: Scale
    tasks: TaskSource
    clock: Clock
    collector: Collector | None = None

    @property
    def name(self) -> str:
        return self.bench.mechanism.name

    def recover(self) -> list[str]:
        """Between rounds, finish what a crash or a faulty store left open; gives the rounds and requests touched."""
        rounds = finish_rounds(self.bench.journal, {self.name: self.bench.mechanism})
        return rounds + recover_requests(self.bench.journal, self.bench.mechanism)

    async def play_round(self, own: bool = False) -> Committed:
        """One round with whoever serves now; an organic request goes first, unless it is to be one of our `own`.
        Where nobody is asked, what came in.

        The seed is drawn here and told to nobody before the answers are in.
        """
        graph, rules = await self.scale.chain.metagraph(), await self.scale.chain.rules()
        self._note(graph, rules)
        endpoints = await self.scale.discovery.look(graph)
        known = await asyncio.to_thread(self.scale.validators)
        eligible = find_eligible(self.scale, graph, scale_limits(rules), endpoints, known)
        seed = secrets.token_hex(16)
        moment = Moment(
            round_id=f"{self.name}-{graph.block}-{secrets.token_hex(4)}",
            seed=seed,
            block=graph.block,
            at=self.clock.now(),
            uids={neuron.hotkey: neuron.uid for neuron in graph.neurons},
            endpoints=endpoints,
            entities=find_operators(graph, endpoints),
        )
        journal, mechanism = self.bench.journal, self.bench.mechanism
        if self.collector is not None:
            return await collect_rounds(self.bench, self.collector, moment)
        request = None if own else await asyncio.to_thread(self._take, moment)
        try:
            task = request.task if request else await asyncio.to_thread(self.tasks, seed)
            done = await run_round(self.bench, task, moment, self._find_candidates(graph, eligible.hotkeys))
        except Exception as fault:
            await asyncio.to_thread(self._fail, request, fault)
            raise
        if request is not None:
            await asyncio.to_thread(answer_request, journal, request.id, moment.round_id, mechanism)
        return done

    def _take(self, moment: Moment) -> Request | None:
        return take_next(self.bench.journal.store, self.name, moment.round_id, moment.at)

    def _find_candidates(self, graph: Metagraph, eligible: Sequence[str]) -> list[str]:
        """Whom the mechanism may ask: those with the least stake it wants, if it wants any."""
        least = getattr(self.bench.params, "min_stake_rao", 0)
        staked = {neuron.hotkey for neuron in graph.neurons if neuron.stake >= least}
        return [hotkey for hotkey in eligible if hotkey in staked]

    async def weigh_in(self) -> WeighedIn:
        done = await weigh_in(self.scale, self.clock.now())
        if done.reading is not None:
            self._note(done.reading.graph, done.reading.rules, always=True)
        return done

    def _note(self, graph: Metagraph | None, rules: Rules | None, always: bool = False) -> None:
        """Keep what the chain said for people to see; nobody waits for it."""
        if graph is not None and rules is not None:
            given = (self.bench.journal.store, self.name, graph, rules, self.clock.now(), self.scale.own_hotkey, always)
            asyncio.get_running_loop().run_in_executor(None, note_quietly, *given)

    def _fail(self, request: Request | None, fault: Exception) -> None:
        """A request fails with its round; what only the store kept from its answer stays taken, for `recover`."""
        known = fault if isinstance(fault, WeighbeamError) else WeighbeamError("round_discarded", type(fault).__name__)
        if request is not None and known.code != "store_fault":
            fail_request(self.bench.journal.store, request.id, known.code, known.message)
