"""Put a validator together from its settings."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG, Alerts, tell_fault
from weighbeam.engine.bench import Bench
from weighbeam.engine.clock import Clock
from weighbeam.engine.exchange import Exchange
from weighbeam.engine.health import Health
from weighbeam.engine.journal import Journal
from weighbeam.engine.keep_running import Desk
from weighbeam.engine.known_validators import KnownValidators
from weighbeam.engine.ledger import Ledger
from weighbeam.engine.lock import HotkeyLock
from weighbeam.engine.tasks import FileShelf, FolderShelf, ShelfTasks, TaskSource, generate_tasks
from weighbeam.engine.validator import Post
from weighbeam.engine.weigh_in.assess import Scale
from weighbeam.mechanisms.abilities import Collector
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.mechanisms.make_params import make_params
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.network.ask import Asker, AskSettings
from weighbeam.network.endpoints import Report
from weighbeam.network.keys import Hotkey
from weighbeam.network.listen import check_listen
from weighbeam.network.probe import can_reach, read_probe
from weighbeam.novelty.collect import DeskCollector
from weighbeam.operate.chains import Tell, check_ids, check_registered, open_chain, open_clock
from weighbeam.operate.cluster import tell_cluster
from weighbeam.operate.deliveries import make_deliveries, open_exchange
from weighbeam.operate.discover import make_discovery
from weighbeam.operate.experiments import KIND, list_sinks, open_experiments
from weighbeam.operate.identity import open_hotkey
from weighbeam.operate.notify import make_notifiers, make_telling, read_receivers
from weighbeam.operate.role import check_role
from weighbeam.operate.web import open_senses
from weighbeam.senses.cluster.ports import check_spread
from weighbeam.senses.local import LocalSenses
from weighbeam.settings.load import Loaded
from weighbeam.settings.model import MechanismSection
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class Built:
    """A validator ready to run."""

    desk: Desk
    posts: tuple[Post, ...]
    exchange: Exchange


def open_store(loaded: Loaded) -> Store:
    url = loaded.store_url()
    path = Path(url.removeprefix("sqlite:///"))
    if url.startswith("sqlite:///"):
        path.parent.mkdir(parents=True, exist_ok=True)
    return Store(url)


def open_known(loaded: Loaded, store: Store, clock: Clock) -> KnownValidators:
    """The list of known validators; its file is relative to the settings, like every other."""
    source = loaded.settings.validator.known_validators
    if source is not None and "://" not in source:
        source = str(loaded.path(Path(source)))
    return KnownValidators(source, store, clock.now)


def build_validator(loaded: Loaded) -> Built:
    """Every part of a validator, checked as far as can be before it starts."""
    check_role(loaded, "validator")
    settings, hotkey = loaded.settings, open_hotkey(loaded)
    senses, clock, store = check_start(loaded, hotkey), open_clock(loaded), open_store(loaded)
    receivers = read_receivers(loaded)
    alerts = Alerts(store, clock.now, make_telling(loaded, receivers, clock.now()))
    senses.on_fault = partial(_tell_lists, alerts)
    senses.on_renewed = partial(alerts.end, {"list_refused": "the lists were read again"}, "evidence")
    if senses.cluster is not None:
        tell_cluster(senses.cluster, alerts)
    known = open_known(loaded, store, clock)
    health = Health(settings.validator.patience_seconds, now=clock.now)
    desk = Desk(
        store, clock, alerts, health, HotkeyLock(store, hotkey.address), known, loaded.averaging(), hotkey.address
    )
    sinks = list_sinks(loaded)
    posts = tuple(_build_post(loaded, name, desk, hotkey, senses, sinks) for name in settings.mechanisms)
    exchange = open_exchange(loaded, desk)
    deliveries = make_deliveries(loaded, desk, posts, exchange) | make_notifiers(loaded, receivers, hotkey.address)
    if sinks:
        better = {post.name: post.scale.mechanism.better for post in posts}
        deliveries[KIND] = open_experiments(loaded, store, hotkey.address, better).log
    observed = settings.validator.rounds == "observers"
    return Built(replace(desk, deliveries=deliveries, observed=observed), posts, exchange)


def find_section(loaded: Loaded, mechanism: str) -> MechanismSection:
    section = loaded.settings.mechanisms.get(mechanism)
    if section is None:
        raise WeighbeamError(
            "unknown_mechanism",
            f"{mechanism!r} is not run here",
            f"one of {', '.join(sorted(loaded.settings.mechanisms))}",
        )
    return section


def check_start(loaded: Loaded, hotkey: Hotkey) -> LocalSenses:
    """What can be known to be wrong before anything runs; gives the senses, loaded."""
    check_ids(loaded)
    read_receivers(loaded)
    check_registered(loaded, hotkey)
    if loaded.settings.validator.listen:
        check_listen(loaded.settings.validator.listen)
    senses = open_senses(loaded)
    check_spread(senses.embedder.inner)
    senses.embedder.embed(["ready"])
    for name, section in loaded.settings.mechanisms.items():
        mechanism = load_mechanism(name)
        mechanism.name_senses(make_params(mechanism, section.params), senses)
    if "evidence" in loaded.settings.mechanisms:
        check_spread(senses.entailment.inner)
        senses.entailment.judge([("ready", "ready")])
        check_spread(senses.pages)
        LOG.info("evidence is read with %s, ages from %s", senses.pages.id, senses.ages.id)
    return senses


def build_scale(
    loaded: Loaded,
    name: str,
    store: Store,
    hotkey: Hotkey,
    known: KnownValidators,
    report: Report = tell_fault,
    tell: Tell | None = None,
    sinks: tuple[str, ...] = (),
) -> Scale:
    """What one mechanism is weighed with: enough for a dry run."""
    section, mechanism = find_section(loaded, name), load_mechanism(name)
    params = make_params(mechanism, section.params)
    chain = open_chain(loaded, hotkey, section.mechid, tell)
    journal, ledger = Journal(store, sinks), Ledger(store, name)
    discover = make_discovery(loaded, report)
    key = getattr(mechanism, "version_key", section.version_key)
    return Scale(
        mechanism,
        params,
        journal,
        ledger,
        chain,
        hotkey.address,
        known.current,
        loaded.averaging(),
        discover,
        section.burn_hotkey,
        int(key),
    )


def _build_post(
    loaded: Loaded, name: str, desk: Desk, hotkey: Hotkey, senses: LocalSenses, sinks: tuple[str, ...]
) -> Post:
    validator = loaded.settings.validator
    report, tell = partial(_tell_source, desk.alerts), partial(desk.alerts.tell, mechanism=name)
    scale = build_scale(loaded, name, desk.store, hotkey, desk.known, report, tell, sinks)
    asking = AskSettings(
        parallel=validator.parallel,
        allow_private=validator.allow_private_addresses,
        require_signed=validator.replies == "required",
    )
    for probe in validator.probes:
        read_probe(probe)
    online = partial(can_reach, validator.probes) if validator.probes else None
    asker = Asker(hotkey, asking)
    bench = Bench(scale.mechanism, scale.params, scale.journal, asker, senses, online, averaging=loaded.averaging())
    if scale.mechanism.kind == "collected":
        nobody = generate_tasks(scale.mechanism, scale.params)
        return Post(bench, scale, nobody, desk.clock, _find_collector(name, desk.store))
    tasks = _find_tasks(loaded, scale.mechanism, scale.params, desk)
    return Post(bench, scale, tasks, desk.clock)


def _find_collector(name: str, store: Store) -> Collector:
    """Contributions to novelty are kept by the desk of the same store."""
    if name != "novelty":
        told = f"{name} collects contributions, and nothing here takes any in for it"
        raise WeighbeamError("bad_config", told, "run novelty, or a mechanism that asks miners")
    return DeskCollector(store)


def _tell_lists(alerts: Alerts, fault: WeighbeamError) -> None:
    text = f"{fault.code}: {fault.message}; the lists read before stay in force"
    alerts.tell("list_refused", "warning", text, "evidence")


def _tell_source(alerts: Alerts, fault: WeighbeamError) -> None:
    alerts.tell("endpoint_source", "warning", fault.message)


def _find_tasks(loaded: Loaded, mechanism: Mechanism, params: Params, desk: Desk) -> TaskSource:
    given = loaded.settings.mechanisms[mechanism.name].tasks
    if given == "generated":
        return generate_tasks(mechanism, params)
    kind, _, place = given.partition(":")
    shelves: dict[str, type[FolderShelf] | type[FileShelf]] = {"folder": FolderShelf, "file": FileShelf}
    if kind not in shelves or not place:
        remedy = "generated, folder:DIR or file:PATH"
        raise WeighbeamError("bad_config", f"mechanisms.{mechanism.name}.tasks is {given!r}", remedy)
    tasks = ShelfTasks(mechanism, params, shelves[kind](loaded.path(Path(place))), desk.store, desk.alerts)
    tasks.check()
    return tasks
