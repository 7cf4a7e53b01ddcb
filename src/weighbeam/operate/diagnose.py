"""What the settings come to: the values a validator would run with, and whether its chain and store can be had."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.diagnose import Symptom
from weighbeam.engine.read_journal import count_entries, view_journal
from weighbeam.engine.weigh_in.constants import CONSTANTS, find_ignored, hash_weighing
from weighbeam.mechanisms.make_params import make_params
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.network.listen import bind, check_listen
from weighbeam.operate.build import check_start
from weighbeam.operate.chains import look_at_chain, open_file
from weighbeam.operate.cluster import open_cluster
from weighbeam.operate.identity import open_hotkey
from weighbeam.settings.load import Loaded, find_file, find_unknown, load_settings
from weighbeam.settings.origin import hide_password

SQLITE = "sqlite:///"
PROBE, PROBE_SECONDS = "weighbeam-doctor.txt", 5.0
IGNORED = "network constants are not configurable by environment"


def diagnose_settings(config: Path | None, environment: Mapping[str, str] = os.environ) -> Iterator[Symptom]:
    """Settings and what they lead to; without a file of settings nothing is expected of chain and wallet."""
    for name in find_ignored(environment):
        yield Symptom(f"variable {name}", "missing", f"set but ignored: {IGNORED}", "unset it")
    for name in sorted(set(find_unknown(environment)) - set(find_ignored(environment))):
        yield Symptom(f"variable {name}", "missing", "set but names no setting", "see weighbeam config show")
    try:
        file, loaded = find_file(config, environment), load_settings(config, environment)
    except WeighbeamError as fault:
        yield Symptom("settings", "fault", fault.message, fault.remedy)
        return
    yield Symptom("settings", "ok", "defaults" if file is None else str(file))
    yield from _tell_weighing(loaded)
    if file is not None:
        yield _check_wallet(loaded)
        yield _check_chain(loaded)
        yield _check_store(loaded)
        if loaded.settings.validator.listen:
            yield _check_address(loaded.settings.validator.listen)
        if loaded.settings.store.artifacts.startswith("s3://"):
            yield _check_artifacts(loaded.settings.store.artifacts)
        if loaded.settings.validator.rendering == "on":
            yield _check_browser(loaded.settings.validator.browser)
        if loaded.settings.cluster.address is not None:
            yield _check_cluster(loaded)
        yield _check_start(loaded)


def _tell_weighing(loaded: Loaded) -> Iterator[Symptom]:
    chosen = ", ".join(f"{name} {value:g}" for name, value in loaded.settings.weigh_in.model_dump().items())
    fixed = ", ".join(f"{name} {value}" for name, value in CONSTANTS.items())
    yield Symptom("weigh-in settings", "ok", chosen)
    yield Symptom("weigh-in constants", "ok", fixed)
    for name, section in loaded.settings.mechanisms.items():
        try:
            params = make_params(load_mechanism(name), section.params).model_dump(mode="json")
        except WeighbeamError as fault:
            yield Symptom(f"weights of {name}", "fault", fault.message, fault.remedy)
        else:
            yield Symptom(f"weights of {name}", "ok", f"made under {hash_weighing(name, params, loaded.averaging())}")


def _check_wallet(loaded: Loaded) -> Symptom:
    try:
        return Symptom("hotkey", "ok", open_hotkey(loaded).address)
    except WeighbeamError as fault:
        return Symptom("hotkey", "fault", fault.message, fault.remedy)


def _check_store(loaded: Loaded) -> Symptom:
    """Whether it is there and can be read; one that is not is made at the start, if that can be."""
    url = loaded.store_url()
    shown = hide_password(url)
    try:
        with closing(view_journal(url)) as store:
            return Symptom("store", "ok", f"{shown}, {count_entries(store)} entries")
    except WeighbeamError as fault:
        if fault.code not in ("no_such_file", "empty_journal") or Path(url.removeprefix(SQLITE)).is_dir():
            return Symptom("store", "fault", fault.message, fault.remedy)
    folder = Path(url.removeprefix(SQLITE)).parent
    if url.startswith(SQLITE) and not folder.is_dir():
        return Symptom("store", "missing", f"{shown}: {folder} is not there yet", "is the path right? It is made then")
    if url.startswith(SQLITE) and not os.access(folder, os.W_OK | os.X_OK):
        return Symptom("store", "fault", f"{shown}: {folder} cannot be written", "let the validator's user write it")
    return Symptom("store", "ok", f"{shown}, nothing in it yet")


def _check_address(address: str) -> Symptom:
    try:
        with closing(bind(*check_listen(address))):
            return Symptom("address", "ok", f"{address} is free")
    except WeighbeamError as fault:
        remedy = "a validator that runs already has it; else set validator.listen to a free one"
        return Symptom("address", "missing", fault.message, remedy)


def _check_browser(program: str) -> Symptom:
    from weighbeam.senses.pages.browser.render import check_browser

    try:
        return Symptom("browser", "ok", f"{check_browser(program)}, confined, shows a known page")
    except WeighbeamError as fault:
        return Symptom("browser", "fault", fault.message, fault.remedy)


def _check_artifacts(url: str) -> Symptom:
    """Keep something small in the S3 store, read it and remove it."""
    from weighbeam.store.artifacts_s3 import S3Artifacts, read_s3_url

    try:
        artifacts = S3Artifacts(read_s3_url(url), seconds=PROBE_SECONDS)
        place = artifacts.put(PROBE, b"weighbeam doctor was here", "text/plain")
        artifacts.get(PROBE)
        artifacts.remove(PROBE)
    except WeighbeamError as fault:
        return Symptom("artifacts", "fault", fault.message, fault.remedy)
    return Symptom("artifacts", "ok", f"{place.removesuffix(PROBE)} keeps, gives and removes")


def _check_cluster(loaded: Loaded) -> Symptom:
    try:
        cluster = open_cluster(loaded)
        assert cluster is not None
        with closing(cluster):
            size = cluster.look()
    except WeighbeamError as fault:
        return Symptom("cluster", "fault", fault.message, fault.remedy)
    return Symptom("cluster", "ok", f"{size['nodes']:g} nodes, {size['cpus']:g} cores")


def _check_start(loaded: Loaded) -> Symptom:
    try:
        senses = check_start(loaded, open_hotkey(loaded))
        if senses.cluster is not None:
            senses.cluster.close()
    except WeighbeamError as fault:
        return Symptom("start of a validator", "fault", fault.message, fault.remedy)
    return Symptom("start of a validator", "ok", "nothing stands in its way")


def _check_chain(loaded: Loaded) -> Symptom:
    section = loaded.settings.chain
    try:
        if section.kind == "bittensor":
            graph, rules = look_at_chain(loaded, open_hotkey(loaded))
            told = f"subnet {graph.netuid}, block {graph.block}, {len(graph.neurons)} neurons, tempo {rules.tempo}"
            return Symptom("chain", "ok", f"bittensor, {told}")
        file = open_file(loaded)
    except WeighbeamError as fault:
        return Symptom("chain", "fault", fault.message, fault.remedy)
    block = file.read("head")
    file.close()
    return Symptom("chain", "ok", f"local, block {block}")
