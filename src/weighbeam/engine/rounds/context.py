"""Dependencies of a round, and the chain snapshot it starts from."""

from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Level
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.rounds.exclusion import Exclusion
from weighbeam.engine.rules.constants import EVALUATION_TIMEOUT_SECONDS, Averaging
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.network.ask import Asker
from weighbeam.network.endpoints import Endpoint
from weighbeam.senses.ports.protocols import Senses


def _one_thread() -> Executor:
    return ThreadPoolExecutor(1, "observe")


@dataclass(frozen=True, slots=True)
class RoundContext:
    """Dependencies of one mechanism's rounds.

    Observing has one thread of its own: one that hangs holds back the mechanism's next rounds, so that nothing piles
    up until the watchdog ends the process. `is_online` probes our own network; without one it is taken to work.
    `playing` are the rounds under way here, which nobody else has to finish. `tell` raises an alert of this mechanism.
    """

    mechanism: Mechanism
    params: Params
    journal: Journal
    asker: Asker
    senses: Senses
    is_online: Callable[[], Awaitable[bool]] | None = None
    observers: Executor = field(default_factory=_one_thread)
    evaluation_seconds: float = EVALUATION_TIMEOUT_SECONDS
    averaging: Averaging = field(default_factory=Averaging)
    playing: set[str] = field(default_factory=set)
    tell: Callable[[str, Level, str], None] | None = None


@dataclass(frozen=True, slots=True)
class RoundStart:
    """Time and participants of a round: hotkey → uid, endpoint and operator, from one metagraph.

    `known` are the miners that the journal knew before: those of them that are absent have left. Later arrivals
    have not, although the metagraph does not show them. `barred` is why no miner may be asked,
    `exclusion` counts the miners left out by rules.
    """

    round_id: str
    seed: str
    block: int
    at: float
    uids: Mapping[str, int]
    endpoints: Mapping[str, Endpoint]
    entities: Mapping[str, str] = field(default_factory=dict)
    known: frozenset[str] | None = None
    barred: WeighbeamError | None = None
    exclusion: Exclusion = field(default_factory=Exclusion)
