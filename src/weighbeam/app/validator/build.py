"""Build a validator from its settings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from sqlalchemy.engine import make_url

from weighbeam.app.chains import (
    ChainReport,
    check_ids,
    check_registered,
    find_own_hotkey,
    find_proxying,
    open_chain,
    open_clock,
)
from weighbeam.app.experiments.logger import KIND, list_sinks, open_experiments
from weighbeam.app.identity import open_hotkey
from weighbeam.app.notices.notifier import make_notice_rules, make_notifiers, parse_receivers
from weighbeam.app.senses import list_page_readers, open_senses, report_cluster
from weighbeam.app.settings.sections import MechanismSection
from weighbeam.app.settings.sources import LoadedSettings, check_role
from weighbeam.app.validator.deliveries import make_deliveries, open_exchange
from weighbeam.chain.contract import Metagraph
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, Alerts, log_fault
from weighbeam.engine.journal.head import HeadSigner, find_head_file, sign_heads
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.requests.challenge_api import ChallengeApi
from weighbeam.engine.rounds.context import RoundContext
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.rounds.tasks import DocumentTasks, FileDocuments, FolderDocuments, TaskSource, generate_tasks
from weighbeam.engine.running.health import Health
from weighbeam.engine.running.runtime import ValidatorRuntime
from weighbeam.engine.support.clock import EngineClock
from weighbeam.engine.support.lock import HotkeyLock
from weighbeam.engine.support.package_faults import contain
from weighbeam.engine.weights.assessment import WeighInContext
from weighbeam.engine.weights.discovery import Discovery
from weighbeam.engine.weights.known_validators import KnownValidators
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params, make_params
from weighbeam.mechanism.records import Collector
from weighbeam.mechanism.registry import GUIDE, UNUSABLE, load_mechanism, load_usable
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.endpoints import Endpoint, Report, find_endpoints, open_sources
from weighbeam.network.http_server import check_listen
from weighbeam.network.keys import Hotkey
from weighbeam.network.probe import can_reach, parse_probe
from weighbeam.senses.adapters.cluster.senses import check_spread
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store


def make_discovery(loaded: LoadedSettings, report: Report) -> Discovery:
    """Endpoints of a metagraph's neurons, from the sources in their order."""
    validator = loaded.settings.validator
    file = None if validator.endpoints_file is None else loaded.path(validator.endpoints_file)
    sources = open_sources(validator.endpoints, report, file, validator.dialect)

    def discover(graph: Metagraph) -> Mapping[str, Endpoint]:
        return find_endpoints(sources, {neuron.hotkey: neuron.endpoint for neuron in graph.neurons})

    return Discovery(discover)


@dataclass(frozen=True, slots=True)
class BuiltValidator:
    """A validator ready to run."""

    runtime: ValidatorRuntime
    runners: tuple[MechanismRunner, ...]
    exchange: ChallengeApi


def open_store(loaded: LoadedSettings) -> Store:
    url = loaded.store_url()
    path = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///"):
        path.parent.mkdir(parents=True, exist_ok=True)
    return Store(url)


def locate_head(loaded: LoadedSettings) -> Path:
    """Where the newest head is kept: beside a journal in a file, else beside the settings."""
    url = loaded.store_url()
    return find_head_file(url) or loaded.path(Path(f"{make_url(url).database or 'journal'}.head"))


def open_known(loaded: LoadedSettings, store: Store, clock: EngineClock, keep: bool = True) -> KnownValidators:
    """The list of known validators; its file is relative to the settings, like every other."""
    source = loaded.settings.validator.known_validators
    if source is not None and "://" not in source:
        source = str(loaded.path(Path(source)))
    return KnownValidators(source, store, clock.now, keep)


def build_validator(loaded: LoadedSettings) -> BuiltValidator:
    """Every part of a validator, checked as far as can be before it starts."""
    check_role(loaded, "validator")
    settings, hotkey = loaded.settings, open_hotkey(loaded)
    own = find_own_hotkey(loaded, hotkey)
    started, clock, store = check_start(loaded, hotkey), open_clock(loaded), open_store(loaded)
    sign_heads(store, HeadSigner(hotkey, clock.now, file=locate_head(loaded)))
    senses, broken = started.senses, dict(started.broken)
    receivers = parse_receivers(loaded)
    alerts = Alerts(store, clock.now, make_notice_rules(loaded, receivers, clock.now()))
    reader = next(iter(list_page_readers(settings.mechanisms)), None)
    senses.on_fault = partial(_alert_lists, alerts, reader)
    senses.on_renewed = partial(alerts.end, {"list_refused": "the lists were read again"}, reader)
    if senses.cluster is not None:
        report_cluster(senses.cluster, alerts)
    known = open_known(loaded, store, clock)
    health = Health(settings.validator.patience_seconds, now=clock.now)
    lock = HotkeyLock(store, own)
    runtime = ValidatorRuntime(store, clock, alerts, health, lock, known, loaded.averaging(), hotkey.address)
    sinks = list_sinks(loaded)
    runners = []
    for name in started.names:
        try:
            runners.append(_build_runner(loaded, name, runtime, hotkey, senses, sinks))
        except WeighbeamError as fault:
            broken[name] = _keep_broken(fault)
    _require_any(runners, broken)
    for name, why in broken.items():
        alerts.tell("mechanism_broken", "critical", f"{why}; the other mechanisms run without it", name)
    exchange = open_exchange(loaded, runtime)
    deliveries = make_deliveries(loaded, runtime, runners, exchange) | make_notifiers(loaded, receivers, own)
    if sinks:
        better = {runner.name: runner.weigh_in_context.mechanism.better for runner in runners}
        deliveries[KIND] = open_experiments(loaded, store, own, better).log
    observed = settings.validator.rounds == "observers"
    return BuiltValidator(replace(runtime, deliveries=deliveries, observed=observed), tuple(runners), exchange)


def find_section(loaded: LoadedSettings, mechanism: str) -> MechanismSection:
    section = loaded.settings.mechanisms.get(mechanism)
    if section is None:
        raise WeighbeamError(
            "unknown_mechanism",
            f"{mechanism!r} is not run here",
            f"one of {', '.join(sorted(loaded.settings.mechanisms))}",
        )
    return section


@dataclass(frozen=True, slots=True)
class StartCheck:
    """Loaded senses, the mechanisms that can run with them, and why the others cannot."""

    senses: LocalSenses
    names: tuple[str, ...]
    broken: Mapping[str, WeighbeamError]


def check_start(loaded: LoadedSettings, hotkey: Hotkey) -> StartCheck:
    """Refuse settings that cannot work before anything runs; a broken package only leaves out its mechanism."""
    check_ids(loaded)
    parse_receivers(loaded)
    check_registered(loaded, hotkey)
    if loaded.settings.validator.listen:
        check_listen(loaded.settings.validator.listen)
    senses = open_senses(loaded)
    check_spread(senses.embedder.inner)
    senses.embedder.embed(["ready"])
    usable, broken = load_usable(loaded.settings.mechanisms)
    names = []
    for name, mechanism in usable.items():
        try:
            params = make_params(mechanism, loaded.settings.mechanisms[name].given_params)
            with contain(name, "name_senses"):
                mechanism.name_senses(params, senses)
        except WeighbeamError as fault:
            broken[name] = _keep_broken(fault)
        else:
            check_senses(mechanism, senses)
            names.append(name)
    _require_any(names, broken)
    return StartCheck(senses, tuple(names), broken)


def _keep_broken(fault: WeighbeamError) -> WeighbeamError:
    """The error of a broken package; any other stops the start."""
    if fault.code not in UNUSABLE:
        raise fault
    return fault


def _require_any(runnable: Sequence[object], broken: Mapping[str, WeighbeamError]) -> None:
    for fault in [] if runnable else broken.values():
        raise fault


def check_senses(mechanism: Mechanism, senses: LocalSenses) -> None:
    """Load what the mechanism uses: a model that is missing is found now and not in the first round."""
    if "entailment" in mechanism.uses:
        check_spread(senses.entailment.inner)
        senses.entailment.judge([("ready", "ready")])
    if mechanism.reads_pages:
        check_spread(senses.pages)
        LOG.info("%s: pages come from %s, domain ages from %s", mechanism.name, senses.pages.id, senses.ages.id)


def build_weigh_in_context(
    loaded: LoadedSettings,
    name: str,
    store: Store,
    hotkey: Hotkey,
    known: KnownValidators,
    report: Report = log_fault,
    tell: ChainReport | None = None,
    sinks: tuple[str, ...] = (),
    lock: HotkeyLock | None = None,
) -> WeighInContext:
    """Everything a weigh-in of one mechanism needs: enough for a dry run."""
    section, mechanism = find_section(loaded, name), load_mechanism(name)
    params = make_params(mechanism, section.given_params)
    chain = open_chain(loaded, hotkey, section.mechid, tell)
    journal, ledger = Journal(store, sinks), Ledger(store, name) if lock is None else Ledger(store, name, lock.require)
    discover = make_discovery(loaded, report)
    key = section.version_key if mechanism.version_key is None else mechanism.version_key
    return WeighInContext(
        mechanism,
        params,
        journal,
        ledger,
        chain,
        find_own_hotkey(loaded, hotkey),
        known.current,
        loaded.averaging(),
        discover,
        section.burn_hotkey,
        int(key),
    )


def _build_runner(
    loaded: LoadedSettings,
    name: str,
    runtime: ValidatorRuntime,
    hotkey: Hotkey,
    senses: LocalSenses,
    sinks: tuple[str, ...],
) -> MechanismRunner:
    validator = loaded.settings.validator
    report, tell = partial(_alert_source, runtime.alerts), partial(runtime.alerts.tell, mechanism=name)
    given = loaded, name, runtime.store, hotkey, runtime.known, report, tell, sinks
    weigh_in_context = build_weigh_in_context(*given, runtime.lock)
    asking = AskSettings(
        parallel=validator.parallel,
        allow_private=validator.allow_private_addresses,
        require_signed=validator.replies == "required",
    )
    for probe in validator.probes:
        parse_probe(probe)
    online = partial(can_reach, validator.probes) if validator.probes else None
    asker = Asker(hotkey, asking)
    round_context = RoundContext(
        weigh_in_context.mechanism,
        weigh_in_context.params,
        weigh_in_context.journal,
        asker,
        senses,
        online,
        averaging=loaded.averaging(),
        tell=tell,
    )
    if weigh_in_context.mechanism.kind == "collected":
        nobody = generate_tasks(weigh_in_context.mechanism, weigh_in_context.params)
        return MechanismRunner(
            round_context,
            weigh_in_context,
            nobody,
            runtime.clock,
            _find_collector(weigh_in_context.mechanism, runtime.store),
        )
    tasks = _find_tasks(loaded, weigh_in_context.mechanism, weigh_in_context.params, runtime)
    return MechanismRunner(
        round_context,
        weigh_in_context,
        tasks,
        runtime.clock,
        require_permit=validator.require_permit,
        proxy=None if find_proxying(loaded) is None else hotkey.address,
    )


def _find_collector(mechanism: Mechanism, store: Store) -> Collector:
    with contain(mechanism.name, "collector"):
        collector = mechanism.collector(store)
    if collector is None:
        told = f"{mechanism.name!r} is of kind collected and has no collector"
        raise WeighbeamError("broken_mechanism", told, f"override its collector, or make it ask miners: {GUIDE}")
    return collector


def _alert_lists(alerts: Alerts, reader: str | None, fault: WeighbeamError) -> None:
    text = f"{fault.code}: {fault.message}; the previous lists stay in force"
    alerts.tell("list_refused", "warning", text, reader)


def _alert_source(alerts: Alerts, fault: WeighbeamError) -> None:
    alerts.tell("endpoint_source", "warning", fault.message)


def _find_tasks(loaded: LoadedSettings, mechanism: Mechanism, params: Params, runtime: ValidatorRuntime) -> TaskSource:
    given = loaded.settings.mechanisms[mechanism.name].tasks
    if given == "generated":
        return generate_tasks(mechanism, params)
    kind, _, place = given.partition(":")
    shelves: dict[str, type[FolderDocuments] | type[FileDocuments]] = {"folder": FolderDocuments, "file": FileDocuments}
    if kind not in shelves or not place:
        remedy = "generated, folder:DIR or file:PATH"
        raise WeighbeamError("bad_config", f"mechanisms.{mechanism.name}.tasks is {given!r}", remedy)
    tasks = DocumentTasks(mechanism, params, shelves[kind](loaded.path(Path(place))), runtime.store, runtime.alerts)
    with contain(mechanism.name, "parse_task"):
        tasks.check()
    return tasks
