"""Score what observers have observed as soon as it is recorded, and notice when observers are gone."""

import asyncio
import time
from collections.abc import Callable, Collection, Sequence

from weighbeam.engine.alerts.alerts import LOG, Alerts, log_fault, name_fault
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.running.health import Health
from weighbeam.engine.support.observers import clear_seats, list_seats
from weighbeam.engine.support.process import run_in_thread
from weighbeam.store.database import Store

POLL_SECONDS = 1.0
FAULT_SECONDS = 60.0
ALONE_SECONDS = 180.0


class ObservedRoundScorer:
    """Score the rounds that observers play. An alert is raised when nobody observes a runner named in `left`."""

    def __init__(
        self,
        store: Store,
        alerts: Alerts,
        health: Health,
        runners: Sequence[MechanismRunner],
        left: Collection[str] = (),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._store, self._alerts, self._health, self._runners, self._left = store, alerts, health, runners, left
        self._monotonic = monotonic
        health.others.update(left)
        self._seen = monotonic()
        self._told = False

    async def keep_scoring(self) -> None:
        while True:
            try:
                await run_in_thread(self.score)
            except Exception as fault:
                log_fault(fault)
                for name in self._left:
                    self._health.add(name).last_fault = name_fault(fault)
                await asyncio.sleep(FAULT_SECONDS)
            await asyncio.sleep(POLL_SECONDS)

    def score(self) -> list[str]:
        """Score observed rounds once. Dead observers lose their seats after their requests are requeued."""
        seats = list_seats(self._store, time.time())
        touched = [one for runner in self._runners for one in self._finish(runner)] if seats or self._left else []
        dead = {name for name, alive in seats.items() if not alive}
        if dead:
            LOG.warning("%d observers stopped responding; their requests are played again", len(dead))
            clear_seats(self._store, dead)
        self._note(any(seats.values()))
        return touched

    def _finish(self, runner: MechanismRunner) -> list[str]:
        touched = runner.recover()
        for one in touched:
            if one.startswith(f"{runner.name}-"):
                pulse = self._health.add(runner.name)
                pulse.rounds, pulse.last_round = pulse.rounds + 1, one
            LOG.info("%s: round %s finished", runner.name, one, extra={"mechanism": runner.name})
        return touched

    def _note(self, alive: bool) -> None:
        if alive:
            for name in self._left:
                self._health.advance(name)
            self._seen = self._monotonic()
            if self._told:
                self._alerts.end({"no_observers": "an observer is running again"})
                self._told = False
        elif self._left and not self._told and self._monotonic() - self._seen > ALONE_SECONDS:
            text = f"no observer for {ALONE_SECONDS:.0f} s, so no rounds are played for {', '.join(sorted(self._left))}"
            self._alerts.tell("no_observers", "critical", text)
            self._told = True
