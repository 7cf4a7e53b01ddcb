"""Run an observer beside a validator until it is stopped."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.app.shutdown import end_now, run_until_stopped
from weighbeam.app.tracing import export_traces
from weighbeam.app.validator.build import BuiltValidator, build_validator
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.running.observer import ObserverRuntime, check_terms, keep_observing
from weighbeam.engine.support.observers import open_seat
from weighbeam.engine.support.process import freeze_memory


def run_observer(loaded: LoadedSettings) -> None:
    """With the validator's own settings: the same store, hotkey, chain and mechanisms."""
    built = build_validator(loaded)
    runners = [_widen(runner, loaded) for runner in built.runners if runner.collector is None]
    if not runners:
        raise WeighbeamError(
            "bad_config", "none of these mechanisms asks miners", "run the validator alone; observers only ask miners"
        )
    check_terms(built.runtime.store, runners)
    freeze_memory()
    lookout = _look_out(built, loaded)
    LOG.info("observer %s of validator %s runs %s", lookout.seat.name, built.runtime.hotkey, _name(runners))
    try:
        with export_traces():
            asyncio.run(run_until_stopped(_run(lookout, runners)))
    finally:
        built.runtime.store.close()
    LOG.info("stopped")


async def _run(lookout: ObserverRuntime, runners: list[MechanismRunner]) -> None:
    try:
        await keep_observing(lookout, runners)
    except WeighbeamError as fault:
        if fault.code == "watchdog":
            end_now()
        raise


def _look_out(built: BuiltValidator, loaded: LoadedSettings) -> ObserverRuntime:
    runtime, validator = built.runtime, loaded.settings.validator
    own = validator.rounds == "observers"
    return ObserverRuntime(
        runtime.store,
        runtime.clock,
        runtime.alerts,
        runtime.health,
        open_seat(runtime.store),
        own,
        validator.observer_rounds,
        runtime.known.refresh,
    )


def _widen(runner: MechanismRunner, loaded: LoadedSettings) -> MechanismRunner:
    """Rounds are asked side by side, and observed side by side too; not those that read pages: they would wait for each
    other at a host that is asked gently, and a page that is late for that would be its miner's fault."""
    context = runner.round_context
    if context.mechanism.reads_pages:
        return runner
    threads = ThreadPoolExecutor(loaded.settings.validator.observer_rounds, "observe")
    return replace(runner, round_context=replace(context, observers=threads))


def _name(runners: list[MechanismRunner]) -> str:
    return ", ".join(runner.name for runner in runners)
