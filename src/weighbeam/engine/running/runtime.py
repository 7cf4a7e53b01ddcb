"""Run a validator unattended: the loops for rounds and weigh-ins of every mechanism, clean-ups, lock and watchdog."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from weighbeam.chain.contract import ChainFault
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, Alerts, log_fault
from weighbeam.engine.outbox.deliver import Delivery, keep_delivering
from weighbeam.engine.outbox.enqueue import raise_alerts
from weighbeam.engine.requests.organic import has_waiting
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rules.constants import CHALLENGE_INTERVAL_SECONDS, Averaging
from weighbeam.engine.rules.decision import describe_skip
from weighbeam.engine.rules.schedule import find_due, is_stalled
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.retention import clean_up, is_cleanup_due
from weighbeam.engine.running.round_alerts import end_unplayed, is_unplayed, tell_unplayed
from weighbeam.engine.running.scorer import ObservedRoundScorer
from weighbeam.engine.running.watchdog import Supervisor, watch_progress
from weighbeam.engine.support.clock import EngineClock
from weighbeam.engine.support.lock import BEAT_SECONDS, HotkeyLock
from weighbeam.engine.support.process import refuse_exit, run_in_thread
from weighbeam.engine.weights.assessment import recall_blocks
from weighbeam.engine.weights.audit import AuditLine, list_attempts, parse_attempt
from weighbeam.engine.weights.known_validators import KnownValidators
from weighbeam.engine.weights.weigh_in import has_landed
from weighbeam.engine.weights.weigh_in_alerts import list_ended, list_raised, name_state
from weighbeam.store.database import Store

Service = Callable[[], Coroutine[Any, Any, None]]
POLL_SECONDS = 1.0
FAULT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class ValidatorRuntime:
    """State shared by all loops."""

    store: Store
    clock: EngineClock
    alerts: Alerts
    health: Health
    lock: HotkeyLock
    known: KnownValidators
    averaging: Averaging
    hotkey: str
    deliveries: Mapping[str, Delivery] = field(default_factory=dict)
    observed: bool = False
    """Whether observers play the rounds in which miners are asked."""


async def keep_running(
    runtime: ValidatorRuntime, runners: Sequence[MechanismRunner], services: Sequence[Service] = ()
) -> None:
    """Take the lock, recover, and run until cancelled; ends with `watchdog` or `hotkey_locked` otherwise."""
    runtime.lock.take()
    try:
        for runner in runners:
            runtime.health.add(runner.name)
            restore_blocks(runtime, runner)
            _finish_at_start(runner)
        async with asyncio.TaskGroup() as group:
            asked = [runner for runner in runners if runner.collector is None]
            left = {runner.name for runner in asked if runtime.observed}
            for runner in runners:
                if runner.name not in left:
                    group.create_task(keep_rounds(runtime, runner))
                group.create_task(keep_weighing(runtime, runner))
            for loop in (
                keep_clean(runtime, runners[0]),
                keep_lock(runtime.lock, runtime.alerts),
                keep_ending(runtime.alerts),
                watch_progress(runtime.health, runtime.alerts),
                ObservedRoundScorer(runtime.store, runtime.alerts, runtime.health, asked, left).keep_scoring(),
                keep_delivering(runtime.store, runtime.clock, runtime.alerts, list_deliveries(runtime)),
            ):
                group.create_task(loop)
            group.create_task(Supervisor().beat())
            for service in services:
                group.create_task(service())
    except ExceptionGroup as faults:
        raise _first(faults) from None
    finally:
        release(runtime.lock)


def list_deliveries(runtime: ValidatorRuntime) -> dict[str, Delivery]:
    """All deliveries: alerts of this process, then the configured ones."""
    return {"alerts": partial(raise_alerts, runtime.alerts), **runtime.deliveries}


async def keep_rounds(runtime: ValidatorRuntime, runner: MechanismRunner) -> None:
    """A round of our own every 300 seconds, none overlapping; organic requests are played in between, at once.

    However many ask, standings go on: a flood of unranked requests keeps no round of ours away.
    """
    while True:
        started = runtime.clock.now()
        await play_once(runtime, runner, own=True)
        while 0 <= runtime.clock.now() - started < CHALLENGE_INTERVAL_SECONDS:
            await asyncio.sleep(POLL_SECONDS)
            if await is_asked(runtime, runner):
                await play_once(runtime, runner)


async def is_asked(runtime: ValidatorRuntime, runner: MechanismRunner) -> bool:
    """Whether an organic request waits; if the store fails, log it and ask again later."""
    try:
        return await asyncio.to_thread(has_waiting, runtime.store, runner.name)
    except WeighbeamError as fault:
        log_fault(fault, runner.name)
        await runtime.clock.sleep(FAULT_SECONDS)
        return False


async def play_once(runtime: ValidatorRuntime, runner: MechanismRunner, own: bool = False) -> None:
    """Play one round; faults are reported, and the next round follows on schedule."""
    pulse = runtime.health.add(runner.name)
    try:
        await run_in_thread(finish_open, runner)
        done = await runner.play_round("own" if own else "asked")
    except WeighbeamError as fault:
        if fault.code == "nothing_new":
            runtime.health.advance(runner.name)
            return
        pulse.discarded += 1
        pulse.last_fault = fault.code
        if is_unplayed(fault):
            runtime.health.advance(runner.name)
            await asyncio.to_thread(tell_unplayed, runtime.alerts, runner.name, fault)
            return
        log_fault(fault, runner.name)
        code = "chain_unreadable" if isinstance(fault, ChainFault) else "round_discarded"
        await asyncio.to_thread(runtime.alerts.tell, code, "warning", f"no round: {fault.code}", runner.name)
    except Exception as fault:
        pulse.discarded += 1
        pulse.last_fault = type(fault).__name__
        log_fault(fault, runner.name)
        text = f"no round: {type(fault).__name__}"
        await asyncio.to_thread(runtime.alerts.tell, "round_discarded", "critical", text, runner.name)
    else:
        runtime.health.advance(runner.name)
        await asyncio.to_thread(end_unplayed, runtime.alerts, runner.name)
        pulse.rounds += 1
        pulse.last_round = done.id
        valid = sum(score.status == "valid" for score in done.scored.scores)
        answers, fields = len(done.scored.scores), {"mechanism": runner.name, "round": done.id}
        LOG.info("%s: round %s, %d of %d answers valid", runner.name, done.id, valid, answers, extra=fields)


def restore_blocks(runtime: ValidatorRuntime, runner: MechanismRunner) -> None:
    """How old our weights are is known before the first weigh-in, from the last one."""
    kept = recall_blocks(runtime.store, runner.name)
    if kept is not None:
        runtime.health.note_blocks(runner.name, *kept)


def _finish_at_start(runner: MechanismRunner) -> None:
    """Finish open rounds; failures are tried again before every round."""
    try:
        refuse_exit(finish_open, runner)
    except Exception as fault:
        log_fault(fault, runner.name)


def finish_open(runner: MechanismRunner) -> None:
    for touched in runner.recover():
        LOG.info("%s: round %s was left open and is finished now", runner.name, touched)


async def keep_weighing(runtime: ValidatorRuntime, runner: MechanismRunner) -> None:
    """Weigh in when it is due, by what the ledger and the audit trail say; never without the lock."""
    while True:
        try:
            runtime.health.weigh(runner.name)
            wait = await asyncio.to_thread(seconds_to_next, runtime, runner)
            if wait > 0:
                await runtime.clock.sleep(min(wait, FAULT_SECONDS))
                continue
            await asyncio.to_thread(runtime.lock.check)
            await weigh_once(runtime, runner)
        except WeighbeamError as fault:
            log_fault(fault, runner.name)
            await runtime.clock.sleep(FAULT_SECONDS)
        except Exception as fault:
            log_fault(fault, runner.name)
            await runtime.clock.sleep(FAULT_SECONDS)


def seconds_to_next(runtime: ValidatorRuntime, runner: MechanismRunner) -> float:
    """Never more than one interval: what is later than now was noted before the clock jumped back, and holds nobody."""
    now = runtime.clock.now()
    tries = [parse_attempt(one) for one in list_attempts(runtime.store, runner.name, 10) if one.at <= now]
    last = runner.weigh_in_context.ledger.last_submitted_at()
    due = find_due(last if last is None or last <= now else None, tries)
    runtime.health.add(runner.name).next_due = due
    return max(0.0, due - now)


async def weigh_once(runtime: ValidatorRuntime, runner: MechanismRunner) -> None:
    """Make one weigh-in, and report its results."""
    await asyncio.to_thread(runtime.known.refresh)
    if runtime.known.fault is not None:
        log_fault(runtime.known.fault, runner.name)
    done = await runner.weigh_in()
    pulse = runtime.health.add(runner.name)
    tries = await asyncio.to_thread(list_attempts, runtime.store, runner.name, 3)
    if done.fault is not None:
        log_fault(done.fault, runner.name)
    alerts = list_raised(done, pulse.mode, is_stalled([_name_skip(one) for one in tries]))
    for told in alerts:
        await asyncio.to_thread(runtime.alerts.tell, told.code, told.level, told.text, runner.name, told.left)
    over = list_ended(done, [told.code for told in alerts if not told.left])
    await asyncio.to_thread(runtime.alerts.end, over, runner.name)
    result = done.submission.state if done.submission else f"skipped: {done.decision.reason or 'submission_open'}"
    pulse.mode, pulse.last_weigh_in = name_state(done.mode), result
    runtime.health.note_blocks(runner.name, 0 if has_landed(done.submission) else done.mode.blocks)
    pulse.weigh_ins += 1
    fields = {"mechanism": runner.name, "mode": pulse.mode, "result": result}
    said = f"weights {result}" if done.submission else f"no weights set: {describe_skip(done.decision.reason)}"
    LOG.info("%s: %s, mode %s", runner.name, said, pulse.mode, extra=fields)


async def keep_clean(runtime: ValidatorRuntime, runner: MechanismRunner) -> None:
    """Retention, when it is due by the store's own memory."""
    while True:
        try:
            if await asyncio.to_thread(is_cleanup_due, runtime.store, runtime.clock.now(), runtime.averaging):
                done = await asyncio.to_thread(
                    clean_up,
                    runtime.store,
                    runtime.clock.now(),
                    runtime.averaging,
                    runtime.hotkey,
                    runner.weigh_in_context.chain.sign,
                )
                if done.entries:
                    LOG.info("clean-up removed %d entries and %d rounds", done.entries, done.rounds)
        except Exception as fault:
            log_fault(fault)
        await asyncio.sleep(FAULT_SECONDS)


async def keep_ending(alerts: Alerts) -> None:
    """End alerts that were not raised again for long enough."""
    while True:
        await asyncio.sleep(FAULT_SECONDS)
        await asyncio.to_thread(alerts.end_quiet)


async def keep_lock(lock: HotkeyLock, alerts: Alerts) -> None:
    """Renew the lock; losing it ends the process, a failing store does not."""
    while True:
        try:
            await asyncio.to_thread(lock.beat)
        except WeighbeamError as fault:
            if fault.code == "hotkey_locked":
                alerts.tell("lock_lost", "critical", fault.message)
                raise
            log_fault(fault)
        await asyncio.sleep(BEAT_SECONDS)


def release(lock: HotkeyLock) -> None:
    """Release the lock; a failing store hides no other fault, and the next start takes over anyway."""
    try:
        lock.release()
    except WeighbeamError as fault:
        log_fault(fault)


def _name_skip(audit: AuditLine) -> str | None:
    """Reason why no weights were set; None for a commit that waits for its reveal on time."""
    return audit.reason if audit.kind == "skip" and not audit.detail.get("sealed") else None


def _first(faults: BaseExceptionGroup[Exception]) -> BaseException:
    return next((fault for fault in faults.exceptions if isinstance(fault, WeighbeamError)), faults.exceptions[0])
