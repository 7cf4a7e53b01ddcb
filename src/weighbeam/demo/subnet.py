"""Set up the demo's subnet and run it, on a chain clock 24 times as fast as the wall clock."""

import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from weighbeam.app.senses import EMBEDDED, find_web
from weighbeam.app.validator.build import check_senses
from weighbeam.chain.contract import Metagraph
from weighbeam.chain.local.administer import register, set_names, set_owner
from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.clock import ChainClock
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters
from weighbeam.chain.local.port import LocalChain
from weighbeam.core.canonical import seeded_digest
from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import ASKED, MECHANISMS, MINERS, OWNER, VALIDATORS, DemoNeuron, describe_cast, list_miners
from weighbeam.demo.miners import READY
from weighbeam.demo.novelty_desks import contribute_all, open_desks
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.head import HeadSigner, find_head_file, sign_heads
from weighbeam.engine.journal.journal import CommittedRound, Journal
from weighbeam.engine.journal.recall import select_round
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rounds.tasks import TaskSource, generate_tasks
from weighbeam.engine.rules.constants import BLOCK_SECONDS
from weighbeam.engine.views.names import note_cast
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.metagraphs import note_metagraph
from weighbeam.engine.weights.weigh_in import WeighInResult
from weighbeam.mechanism.params import make_params
from weighbeam.mechanism.records import Scored, Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.chunking.documents import generate_document
from weighbeam.mechanisms.evidence.task import load_bank
from weighbeam.mechanisms.inference.miners.prepared_answers import load_prompts
from weighbeam.mechanisms.novelty.desk.collector import DeskCollector
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

CHARACTERS = 5000
CHUNK_SIZE = 1600


def make_document(seed: str) -> Task:
    document = generate_document(seed, CHARACTERS).text
    return Task(f"generated-{seed[:8]}", {"document": document, "chunk_size": CHUNK_SIZE})


def draw_prompt(seed: str) -> Task:
    """One of the prompts with prepared answers.

    >>> draw_prompt("a") == draw_prompt("a")
    True
    """
    ids = load_prompts()
    prompt = sorted(ids)[int(seeded_digest(seed, "prompt")[:16], 16) % len(ids)]
    return Task(f"prompt-{ids[prompt]}", {"prompt": prompt})


def draw_statement(seed: str) -> Task:
    """One of the statements that pages of the archive decide."""
    rows = [row for row in load_bank() if row["expect"] != "undecidable"]
    row = rows[int(seeded_digest(seed, "statement")[:16], 16) % len(rows)]
    return Task(f"statement-{row['id']}", {"statement": row["statement"]})


TASKS: Mapping[str, TaskSource] = {
    "chunking": make_document,
    "inference": draw_prompt,
    "evidence": draw_statement,
}


SPEED = 24.0
ASK_SECONDS = 6.0
TRIES = 3
MAX_FURTHER = 5
"""Rounds that may replace those for which this machine was late."""
PARAMS: Mapping[str, dict[str, Any]] = {
    "chunking": {"timeout": ASK_SECONDS},
    "inference": {"timeout_seconds": ASK_SECONDS, "max_miners": len(MINERS)},
    "evidence": {"timeout_seconds": ASK_SECONDS, "group_size": len(MINERS)},
    "novelty": {},
}
MODEL_SECONDS = 20.0
GUEST_PARAMS: Mapping[str, dict[str, Any]] = {
    "inference": {"timeout_seconds": MODEL_SECONDS, "max_miners": len(MINERS) + 1},
    "evidence": {"group_size": len(MINERS) + 1},
}
"""With a language model among the miners: nobody is left out for it, and it has time to write."""
PARAMETERS = SubnetParameters(
    mechanisms=len(MECHANISMS),
    tempo=20,
    rate_limit=5,
    max_validators=len(VALIDATORS),
    immunity_period=100,
    activity_factor=250_000,
)
EPOCH_SECONDS = (PARAMETERS.tempo + 1) * BLOCK_SECONDS / SPEED
"""After that validators have their permits, without which they ask nobody."""
StepOutcome = CommittedRound | WeighInResult | None
StepOutcomes = dict[str, list[StepOutcome]]
"""By mechanism, what came of it for each validator; None for one that had nothing to do."""


@dataclass(frozen=True, slots=True)
class DemoStep:
    """A round of every mechanism, an extra one of those for which this machine was late, or the weigh-in."""

    kind: Literal["round", "extra", "weigh-in"]
    name: str
    outcomes: StepOutcomes


@dataclass(frozen=True, slots=True)
class DemoSubnet:
    """The demo's chain, and the runners of its validators by mechanism; `names` tells hotkeys apart."""

    folder: Path
    file: ChainFile
    runners: Mapping[str, tuple[MechanismRunner, ...]]
    names: dict[str, DemoNeuron]

    async def metagraph(self, mechanism: str) -> Metagraph:
        return await self.runners[mechanism][0].weigh_in_context.chain.metagraph()

    def epochs(self) -> int:
        with at_present(self.file):
            return int(self.file.read("epoch_index"))


@contextmanager
def open_subnet(folder: Path, llm: str | None = None) -> Iterator[DemoSubnet]:
    """A fresh chain with everybody registered, the miners serving, the validators ready."""
    folder.mkdir(parents=True, exist_ok=True)
    miners = list_miners(llm)
    file = create_chain(folder, miners)
    senses = LocalSenses(workers=1, **find_web(EMBEDDED, None, folder))
    with _miners(folder, llm):
        for name in MECHANISMS:
            check_senses(load_mechanism(name), senses)
        senses.embedder.embed(["warm"])
        validators = [_make_runners(part, folder, file, senses, llm is not None) for part in VALIDATORS]
        runners = {name: tuple(validator[name] for validator in validators) for name in MECHANISMS}
        names = {part.hotkey.address: part for part in (*VALIDATORS, *miners, OWNER)}
        yield DemoSubnet(folder, file, runners, names)


def create_chain(folder: Path, miners: Sequence[DemoNeuron] = MINERS) -> ChainFile:
    """The demo's chain, everybody registered an epoch ago."""
    path = folder / "chain.sqlite"
    past = ChainFile.create(path, PARAMETERS, speed=SPEED, clock=lambda: time.time() - EPOCH_SECONDS)
    for part in (*VALIDATORS, *miners, OWNER):
        register(past, part.hotkey.address, stake=part.stake)
    set_owner(past, OWNER.hotkey.address)
    set_names(past, {part.hotkey.address: part.name for part in (*VALIDATORS, *miners, OWNER)})
    past.close()
    return ChainFile(path)


@contextmanager
def _miners(folder: Path, llm: str | None) -> Iterator[None]:
    words = [str(folder / "chain.sqlite"), str(folder / "miners"), *([] if llm is None else [llm])]
    command = [sys.executable, "-m", "weighbeam.demo.miners", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            if process.stdout.readline().strip() != READY:
                assert process.stderr is not None
                last = (process.stderr.read().strip().splitlines() or ["no word"])[-1]
                raise WeighbeamError(
                    "miners_failed", f"the demo's miners did not start: {last}", "run weighbeam doctor"
                )
            yield
        finally:
            process.kill()


def _make_runners(
    part: DemoNeuron, folder: Path, file: ChainFile, senses: LocalSenses, has_guest: bool
) -> dict[str, MechanismRunner]:
    """One runner per mechanism, over one journal that knows the cast."""
    store = Store(f"sqlite:///{folder / part.name}.db")
    note_cast(store, describe_cast((*VALIDATORS, *list_miners("guest" if has_guest else None), OWNER)))
    now = ChainClock(ChainFile(file.path)).now
    sign_heads(store, HeadSigner(part.hotkey, now, file=find_head_file(str(folder / f"{part.name}.db"))))
    return {
        name: _make_runner(name, mechid, part, store, file, senses, has_guest) for mechid, name in enumerate(MECHANISMS)
    }


def _make_runner(
    name: str, mechid: int, part: DemoNeuron, store: Store, file: ChainFile, senses: LocalSenses, has_guest: bool
) -> MechanismRunner:
    mechanism = load_mechanism(name)
    params = make_params(mechanism, PARAMS[name] | (GUEST_PARAMS.get(name, {}) if has_guest else {}))
    journal, chain = Journal(store), LocalChain(ChainFile(file.path), part.hotkey, mechid)
    clock = ChainClock(ChainFile(file.path))
    round_context = RoundContext(
        mechanism,
        params,
        journal,
        Asker(part.hotkey, AskSettings(allow_private=True)),
        senses,
        tell=partial(Alerts(store, clock.now).tell, mechanism=name),
    )
    ledger, own = Ledger(store, name), part.hotkey.address
    burn = OWNER.hotkey.address
    weigh_in_context = WeighInContext(mechanism, params, journal, ledger, chain, own, burn_hotkey=burn)
    if mechanism.kind == "collected":
        return MechanismRunner(
            round_context, weigh_in_context, generate_tasks(mechanism, params), clock, DeskCollector(store)
        )
    return MechanismRunner(round_context, weigh_in_context, TASKS[name], clock)


async def run_subnet(subnet: DemoSubnet, rounds: int) -> AsyncIterator[DemoStep]:
    """Rounds of all mechanisms and validators side by side, then a weigh-in of each, then epochs until the chain
    has counted them.

    Where this machine was too late for a round or for an honest miner, further rounds are played, one after the other
    so that they do not disturb each other.
    """
    played: list[StepOutcomes] = []
    async with open_desks(subnet.runners["novelty"], subnet.names) as doors:
        for turn in range(rounds):
            await contribute_all(doors, turn)
            played.append(await _at_once(subnet, _play))
            yield DemoStep("round", f"round {turn + 1} of {rounds}", played[-1])
        for turn in range(MAX_FURTHER):
            lacking = find_lacking(subnet, played, rounds)
            if not lacking:
                break
            played.append(await _play_lacking(subnet, lacking))
            yield DemoStep("extra", f"extra round {turn + 1}", played[-1])
    while subnet.epochs() < 1:
        await asyncio.sleep(0.5)
    yield DemoStep("weigh-in", "weigh-in", await _at_once(subnet, weigh_in))
    counted = subnet.epochs()
    while subnet.epochs() <= counted:
        await asyncio.sleep(0.5)
    await note_result(subnet)


def find_lacking(subnet: DemoSubnet, played: Sequence[StepOutcomes], rounds: int) -> set[tuple[str, int]]:
    """Mechanism and place of every validator that cannot prove its claims yet: too many of its rounds are void, or an
    honest miner was late in all others."""
    return {
        (name, place)
        for name in ASKED
        for place, runner in enumerate(subnet.runners[name])
        if _is_lacking(subnet, runner, [_find_round(step, name, place) for step in played], rounds)
    }


def _find_round(step: StepOutcomes, name: str, place: int) -> CommittedRound | None:
    outcome = step[name][place] if name in step else None
    return outcome if isinstance(outcome, CommittedRound) else None


def _is_lacking(
    subnet: DemoSubnet, runner: MechanismRunner, played: Sequence[CommittedRound | None], rounds: int
) -> bool:
    counted = [one for one in played if one is not None and not is_void(one.scored)]
    honest = {hotkey for hotkey, part in subnet.names.items() if part.role == "honest"}
    valid = {score.hotkey for one in counted for score in one.scored.scores if score.status == "valid"}
    if len(counted) < rounds or honest <= valid:
        return len(counted) < rounds
    store, mechanism = runner.round_context.journal.store, runner.round_context.mechanism
    answers = [answer for one in counted for answer in select_round(store, one.id, mechanism).answers]
    return any(answer.status == "timeout" and answer.hotkey in honest - valid for answer in answers)


def is_void(scored: Scored) -> bool:
    """Whether no answer counts."""
    return all(score.status == "unscored" for score in scored.scores)


async def _play_lacking(subnet: DemoSubnet, lacking: Collection[tuple[str, int]]) -> StepOutcomes:
    step: StepOutcomes = {
        name: [None] * len(subnet.runners[name]) for name in ASKED if any(name == one for one, _ in lacking)
    }
    for name, place in sorted(lacking):
        step[name][place] = await _play(subnet.runners[name][place])
    return step


async def note_result(subnet: DemoSubnet) -> None:
    """The chain's state after it has counted, for readers of the journals."""
    for name, runners in subnet.runners.items():
        for runner in runners:
            chain, own = runner.weigh_in_context.chain, runner.weigh_in_context.own_hotkey
            graph, rules = await chain.metagraph(), await chain.rules()
            note_metagraph(runner.round_context.journal.store, name, graph, rules, runner.clock.now(), own)


async def _play(runner: MechanismRunner) -> CommittedRound | None:
    """A round; None where nothing was contributed since the last."""
    try:
        return await runner.play_round()
    except WeighbeamError as fault:
        if fault.code != "nothing_new":
            raise
        return None


async def weigh_in(runner: MechanismRunner) -> WeighInResult:
    """A weigh-in, tried again as a validator does: one that an epoch's end overtakes is given up by the ledger."""
    done = await runner.weigh_in()
    for _ in range(TRIES - 1):
        if done.submission is not None and done.submission.state == "confirmed":
            break
        done = await runner.weigh_in()
    return done


async def _at_once(subnet: DemoSubnet, act: Callable[[MechanismRunner], Awaitable[StepOutcome]]) -> StepOutcomes:
    names = [name for name, runners in subnet.runners.items() for _ in runners]
    outcomes = await asyncio.gather(*(act(runner) for runners in subnet.runners.values() for runner in runners))
    step: StepOutcomes = {name: [] for name in subnet.runners}
    for name, outcome in zip(names, outcomes, strict=True):
        step[name].append(outcome)
    return step
