"""A validator of one mechanism on one chain: rounds, and weigh-ins between them."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from weighbeam.chain.contract import Chain
from weighbeam.engine.journal import Committed
from weighbeam.engine.round import Bench, Moment, finish_rounds, run_round
from weighbeam.engine.weigh_in.run import Scale, WeighedIn, find_eligible, scale_limits, weigh_in
from weighbeam.mechanisms.contract import Task

TaskSource = Callable[[str], Task]


@dataclass(frozen=True, slots=True)
class Validator:
    """What it asks with, what it weighs with, where its tasks come from, and its clock."""

    bench: Bench
    scale: Scale
    chain: Chain
    tasks: TaskSource
    now: Callable[[], float]

    def recover(self) -> list[str]:
        """Finish what a crash left open."""
        return finish_rounds(self.bench.journal, {self.bench.mechanism.name: self.bench.mechanism})

    async def play_round(self) -> Committed | None:
        """One round with whoever serves now. The seed is drawn here and told to nobody before the answers are in."""
        graph, rules = await self.chain.metagraph(), await self.chain.rules()
        eligible = find_eligible(self.scale, graph, scale_limits(rules.activity_cutoff))
        seed = secrets.token_hex(16)
        moment = Moment(
            round_id=f"{self.bench.mechanism.name}-{graph.block}-{seed[:8]}",
            seed=seed,
            block=graph.block,
            at=self.now(),
            uids={neuron.hotkey: neuron.uid for neuron in graph.neurons},
            endpoints={neuron.hotkey: neuron.endpoint for neuron in graph.neurons},
        )
        return await run_round(self.bench, self.tasks(seed), moment, eligible.hotkeys)

    async def weigh_in(self) -> WeighedIn:
        return await weigh_in(self.scale, self.now())
