"""Access and rate limits of a miner (spec § 5)."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from weighbeam.core.errors import WeighbeamError, require

FRESH_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class SenderStanding:
    """A possible asker as the metagraph shows it."""

    permit: bool
    stake: int


@dataclass(frozen=True, slots=True)
class PolicySettings:
    allow: frozenset[str] = frozenset()
    deny: frozenset[str] = frozenset()
    require_permit: bool = True
    min_stake_rao: int = 0
    per_minute: float = 60.0
    burst: int = 10
    per_sender: int = 2
    max_tasks: int = 8


@dataclass(slots=True)
class RateBucket:
    tokens: float
    filled_at: float


@dataclass(slots=True)
class SenderPolicy:
    """Decides on proven senders; the metagraph is given to it and grows stale after an hour."""

    settings: PolicySettings
    now: Callable[[], float] = time.monotonic
    neurons: Mapping[str, SenderStanding] = field(default_factory=dict)
    read_at: float = float("-inf")
    buckets: dict[str, RateBucket] = field(default_factory=dict)
    in_flight: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))

    def update(self, neurons: Mapping[str, SenderStanding]) -> None:
        self.neurons, self.read_at = neurons, self.now()

    @contextmanager
    def admit(self, sender: str) -> Iterator[None]:
        """Let the sender's task run, or refuse with `not_allowed`, `rate_limited` or `busy`.

        Higher stake goes first: the last quarter of `max_tasks` is kept for the upper half, by stake, of those who may
        ask (an equal stake is in it too), and for the allow list. The others find the miner busy that much earlier.
        """
        require(self.may_ask(sender), "not_allowed", "this hotkey may not ask", "register it as a validator")
        self._spend(sender)
        if self.in_flight[sender] >= self.settings.per_sender:
            raise WeighbeamError("rate_limited", "too many tasks from this sender", "wait for a reply first")
        free = self.settings.max_tasks - sum(self.in_flight.values())
        if free <= 0 or (free <= self.settings.max_tasks // 4 and not self._goes_first(sender)):
            raise WeighbeamError("busy", "too many tasks", "ask again later")
        self.in_flight[sender] += 1
        try:
            yield
        finally:
            self.in_flight[sender] -= 1
            if not self.in_flight[sender]:
                del self.in_flight[sender]

    def may_ask(self, sender: str) -> bool:
        if sender in self.settings.deny:
            return False
        if sender in self.settings.allow:
            return True
        known = self.neurons.get(sender) if self.now() - self.read_at <= FRESH_SECONDS else None
        if known is None or (self.settings.require_permit and not known.permit):
            return False
        return known.stake >= self.settings.min_stake_rao

    def check_pace(self, sender: str) -> None:
        """Refuse a sender over its rate, without charging the call."""
        require(self._fill(sender).tokens >= 1, "rate_limited", "too many requests", "ask less often")

    def _goes_first(self, sender: str) -> bool:
        if sender in self.settings.allow:
            return True
        stakes = sorted(known.stake for hotkey, known in self.neurons.items() if self.may_ask(hotkey))
        return not stakes or self.neurons[sender].stake >= stakes[len(stakes) // 2]

    def _spend(self, sender: str) -> None:
        self.check_pace(sender)
        self.buckets[sender].tokens -= 1

    def _fill(self, sender: str) -> RateBucket:
        now, burst = self.now(), float(self.settings.burst)
        bucket = self.buckets.setdefault(sender, RateBucket(burst, now))
        gained = (now - bucket.filled_at) * self.settings.per_minute / 60
        bucket.tokens, bucket.filled_at = min(burst, bucket.tokens + gained), now
        return bucket
