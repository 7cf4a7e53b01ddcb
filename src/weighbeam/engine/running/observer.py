"""The loops of an observer: play what is asked, leave scoring to the validator; and the terms both must share."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from weighbeam import __version__
from weighbeam.chain.contract import ChainFault
from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, Alerts, log_fault
from weighbeam.engine.requests.organic import has_waiting
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.round_alerts import end_unplayed, is_unplayed, tell_unplayed
from weighbeam.engine.running.watchdog import Supervisor, watch_progress
from weighbeam.engine.support.clock import EngineClock
from weighbeam.engine.support.lock import BEAT_SECONDS, HotkeyLock
from weighbeam.engine.support.observers import claim_turn, count_unscored
from weighbeam.store.database import Store
from weighbeam.store.memory import recall, remember


def note_terms(store: Store, runners: Sequence[MechanismRunner]) -> None:
    for runner in runners:
        remember(store, _terms_key(runner), _format_terms(runner))


def check_terms(store: Store, runners: Sequence[MechanismRunner]) -> None:
    """`observer_differs` if the validator of this store, as it last started, plays under others."""
    for runner in runners:
        known, ours = recall(store, _terms_key(runner)), _format_terms(runner)
        different = [name for name in ours if known is not None and known.get(name) != ours[name]]
        if different:
            told = f"{runner.name} is run with another {', '.join(different)} than the validator's"
            raise WeighbeamError(
                "observer_differs", told, "use the validator's settings and version, and start the validator first"
            )


def _terms_key(runner: MechanismRunner) -> str:
    return f"terms:{runner.name}"


def _format_terms(runner: MechanismRunner) -> dict[str, Json]:
    return {
        "version": __version__,
        "params": runner.round_context.params.model_dump(mode="json"),
        "embedder": runner.round_context.senses.embedder.digest,
    }


POLL_SECONDS = 1.0
FAULT_SECONDS = 60.0
QUIET = ("request_lost", "store_fault", "scorer_behind")
"""Faults that cost no round."""
MAX_UNSCORED = 200
"""Rounds that may wait for the validator before an observer waits too."""


@dataclass(frozen=True, slots=True)
class ObserverRuntime:
    """Dependencies of an observer. `own` says whether it also plays the validator's own rounds."""

    store: Store
    clock: EngineClock
    alerts: Alerts
    health: Health
    seat: HotkeyLock
    own: bool
    rounds_at_once: int = 1
    refresh: Callable[[], object] = lambda: None
    """Reads again what may change, such as the list of known validators."""
    hung: Counter[str] = field(default_factory=Counter)


async def keep_observing(lookout: ObserverRuntime, runners: Sequence[MechanismRunner]) -> None:
    """Take a seat and run until cancelled; ends with `watchdog` or `seat_lost` otherwise."""
    lookout.seat.take()
    try:
        async with asyncio.TaskGroup() as group:
            for runner in runners:
                lookout.health.add(runner.name)
                for _ in range(lookout.rounds_at_once):
                    group.create_task(keep_playing(lookout, runner))
            for loop in (
                keep_seat(lookout.seat),
                keep_fresh(lookout.refresh),
                watch_progress(lookout.health, lookout.alerts),
                Supervisor().beat(),
            ):
                group.create_task(loop)
    except ExceptionGroup as faults:
        raise faults.exceptions[0] from None
    finally:
        _leave(lookout.seat)


async def keep_playing(lookout: ObserverRuntime, runner: MechanismRunner) -> None:
    """One round after the other; where there is none to play, look again soon."""
    while True:
        if not await play_once(lookout, runner):
            await asyncio.sleep(POLL_SECONDS)


async def play_once(lookout: ObserverRuntime, runner: MechanismRunner) -> bool:
    """Play a round, and return whether it was played; faults are reported, and the next round follows a pause."""
    pulse = lookout.health.add(runner.name)
    try:
        played = await _play(lookout, runner)
    except WeighbeamError as fault:
        pulse.discarded += 1
        pulse.last_fault = fault.code
        log_fault(fault, runner.name)
        _note_hung(lookout, runner, fault.code)
        if is_unplayed(fault):
            await asyncio.to_thread(tell_unplayed, lookout.alerts, runner.name, fault)
        elif fault.code not in QUIET:
            code = "chain_unreadable" if isinstance(fault, ChainFault) else "round_discarded"
            await asyncio.to_thread(lookout.alerts.tell, code, "warning", f"no round: {fault.code}", runner.name)
        await asyncio.sleep(FAULT_SECONDS if fault.code != "request_lost" else 0.0)
        return False
    except Exception as fault:
        pulse.discarded += 1
        pulse.last_fault = type(fault).__name__
        log_fault(fault, runner.name)
        text = f"no round: {type(fault).__name__}"
        await asyncio.to_thread(lookout.alerts.tell, "round_discarded", "critical", text, runner.name)
        await asyncio.sleep(FAULT_SECONDS)
        return False
    _beat(lookout, runner)
    if played is not None:
        await asyncio.to_thread(end_unplayed, lookout.alerts, runner.name)
        lookout.hung[runner.name] = 0
        pulse.rounds += 1
        pulse.last_round = played
        LOG.info("%s: round %s observed", runner.name, played, extra={"mechanism": runner.name, "round": played})
    return played is not None


def _note_hung(lookout: ObserverRuntime, runner: MechanismRunner, code: str) -> None:
    """Hanging threads would take requests and fail them, so the process ends once all of them hang."""
    if code != "evaluation_timeout":
        _beat(lookout, runner)
        return
    lookout.hung[runner.name] += 1
    if lookout.hung[runner.name] >= lookout.rounds_at_once:
        told = f"{lookout.hung[runner.name]} rounds of {runner.name} in a row were not observed in time"
        raise WeighbeamError("watchdog", told, "look at the log before this line; the service manager restarts it")


def _beat(lookout: ObserverRuntime, runner: MechanismRunner) -> None:
    """Note progress; an observer has no weigh-ins."""
    lookout.health.advance(runner.name)
    lookout.health.weigh(runner.name)


async def _play(lookout: ObserverRuntime, runner: MechanismRunner) -> str | None:
    store = lookout.store
    if await asyncio.to_thread(count_unscored, store, runner.name) >= MAX_UNSCORED:
        told = f"{MAX_UNSCORED} rounds of {runner.name} wait to be scored"
        raise WeighbeamError(
            "scorer_behind", told, "check that the validator of this store runs; the observer continues by itself"
        )
    await asyncio.to_thread(runner.let_go)
    if lookout.own and await asyncio.to_thread(claim_turn, store, runner.name, lookout.clock.now()):
        return await runner.observe_own()
    if await asyncio.to_thread(has_waiting, store, runner.name):
        return await runner.observe_request(lookout.seat.name)
    return None


async def keep_seat(seat: HotkeyLock) -> None:
    """Renew the seat; an observer whose seat was cleared ends, and restarts with a new one."""
    while True:
        try:
            await asyncio.to_thread(seat.beat)
        except WeighbeamError as fault:
            if fault.code == "hotkey_locked":
                told = "this observer was silent for so long that it was removed"
                raise WeighbeamError(
                    "seat_lost", told, "the service manager restarts it; check clock and database"
                ) from None
            log_fault(fault)
        await asyncio.sleep(BEAT_SECONDS)


async def keep_fresh(refresh: Callable[[], object]) -> None:
    while True:
        try:
            await asyncio.to_thread(refresh)
        except Exception as fault:
            log_fault(fault)
        await asyncio.sleep(FAULT_SECONDS)


def _leave(seat: HotkeyLock) -> None:
    try:
        seat.release()
    except WeighbeamError as fault:
        log_fault(fault)
