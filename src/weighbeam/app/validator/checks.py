"""Checks of the settings and of the next submission; nothing is changed by them."""

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weighbeam.app.settings.origins import hide_password
from weighbeam.app.settings.sources import LoadedSettings, explain_ignored, find_file, find_role, load_settings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.rules.constants import CONSTANTS, TAO, hash_weighing
from weighbeam.engine.running.diagnosis import Symptom
from weighbeam.mechanism.params import list_overridden, make_params
from weighbeam.mechanism.registry import load_mechanism

if TYPE_CHECKING:
    # What each check needs is imported by it: without a file of settings none of it is.
    from weighbeam.chain.contract import Chain
    from weighbeam.chain.proxies import Proxying
    from weighbeam.engine.weights.assessment import ChainSnapshot, WeighInAssessment, WeighInContext


@dataclass(frozen=True, slots=True)
class SubmissionCheck:
    name: str
    holds: bool
    detail: str


def list_submission_checks(
    context: "WeighInContext", reading: "ChainSnapshot", assessed: "WeighInAssessment"
) -> list[SubmissionCheck]:
    """In the order they are made: the chain can be read, our own steps, then the chain's."""
    graph, rules = reading.graph, reading.rules
    if graph is None or rules is None:
        return [SubmissionCheck("chain readable", False, reading.fault.message if reading.fault else "no answer")]
    own, decision = graph.find(context.own_hotkey), assessed.decision
    entries, least = len(decision.uids), min(rules.min_allowed_weights, len(graph.neurons))
    open_row = context.ledger.unsettled()
    checks = [
        SubmissionCheck("chain readable", True, f"block {graph.block}"),
        SubmissionCheck("hotkey registered", own is not None, context.own_hotkey),
        SubmissionCheck("list of known validators", assessed.eligible.list_ok, reading.validators.state),
        SubmissionCheck(
            "miners are eligible", bool(assessed.eligible.hotkeys), f"{len(assessed.eligible.hotkeys)} miners"
        ),
        SubmissionCheck(
            "miners have earned something",
            any(p.raw for p in assessed.weighing.payees),
            f"{sum(p.raw > 0 for p in assessed.weighing.payees)} miners",
        ),
        SubmissionCheck(
            "no submission open", open_row is None, "none" if open_row is None else f"{open_row.id} {open_row.state}"
        ),
    ]
    if own is None:
        return checks
    waited = assessed.weighing.blocks
    return [
        *checks,
        SubmissionCheck(
            "rate limit", waited >= rules.rate_limit, f"{waited} blocks, at least {rules.rate_limit} needed"
        ),
        SubmissionCheck(
            "stake",
            own.stake >= rules.stake_threshold,
            f"{own.stake / TAO:,.9g} TAO, at least {rules.stake_threshold / TAO:,.9g} needed",
        ),
        SubmissionCheck("permit", own.permit or own.hotkey == graph.owner_hotkey, "validator permit or owner"),
        SubmissionCheck(
            "version key",
            context.version_key >= rules.version_key,
            f"{context.version_key}, the chain's {rules.version_key}",
        ),
        SubmissionCheck("enough entries", entries >= least, f"{entries}, at least {least} needed"),
        SubmissionCheck("consensus", rules.consensus == "yuma", str(rules.consensus)),
    ]


async def check_right(chain: "Chain", signer: str, proxying: "Proxying") -> SubmissionCheck:
    """Whether our key may set the weights of the hotkey that it is a proxy of."""
    from weighbeam.chain.contract import ChainFault
    from weighbeam.chain.proxies import describe_right, refuse_delegate

    try:
        given = await chain.delegations(proxying.real)
    except ChainFault as fault:
        return SubmissionCheck("proxy's right", False, fault.message)
    finally:
        await chain.close()
    holds = refuse_delegate(given, signer, proxying.kind) is None
    return SubmissionCheck("proxy's right", holds, describe_right(given, signer, proxying))


SQLITE = "sqlite:///"
PROBE, PROBE_SECONDS = "weighbeam-doctor.txt", 5.0


def diagnose_settings(config: Path | None, environment: Mapping[str, str] = os.environ) -> Iterator[Symptom]:
    """Settings and what they lead to; without a file of settings nothing is expected of chain and wallet."""
    for name, reason in explain_ignored(environment).items():
        yield Symptom(f"variable {name}", "missing", reason, "unset it; weighbeam config show lists every setting")
    try:
        file, loaded = find_file(config, environment), load_settings(config, environment)
    except WeighbeamError as fault:
        yield Symptom("settings", "fault", fault.message, fault.remedy)
        return
    yield Symptom("settings", "ok", "defaults" if file is None else str(file))
    if file is None:
        yield from _describe_weighing(loaded)
    else:
        yield from ROLE_CHECKS[find_role(loaded)](loaded)


def _check_validator(loaded: LoadedSettings) -> Iterator[Symptom]:
    yield from _describe_weighing(loaded)
    yield _check_wallet(loaded)
    yield _check_chain(loaded)
    if loaded.settings.chain.proxy_for is not None:
        yield _check_proxy(loaded)
    yield from _check_places(loaded, loaded.settings.validator.listen, "validator.listen")
    if loaded.settings.validator.rendering == "on":
        yield _check_browser(loaded.settings.validator.browser)
    if loaded.settings.cluster.address is not None:
        yield _check_cluster(loaded)
    yield _check_start(loaded)


def _check_miner(loaded: LoadedSettings) -> Iterator[Symptom]:
    yield _check_wallet(loaded)
    yield _check_chain(loaded)
    yield _check_address(loaded.settings.miner.listen, "miner.listen")
    yield _check_answers(loaded)


def _check_app(loaded: LoadedSettings) -> Iterator[Symptom]:
    """A service alone needs neither chain nor wallet."""
    yield from _check_places(loaded, loaded.settings.service.listen, "service.listen")


def _check_places(loaded: LoadedSettings, listen: str | None, setting: str) -> Iterator[Symptom]:
    yield _check_store(loaded)
    if listen:
        yield _check_address(listen, setting)
    if loaded.settings.store.artifacts.startswith("s3://"):
        yield _check_artifacts(loaded.settings.store.artifacts)


ROLE_CHECKS = {"validator": _check_validator, "miner": _check_miner, "app": _check_app}


def _describe_weighing(loaded: LoadedSettings) -> Iterator[Symptom]:
    chosen = ", ".join(f"{name} {value:g}" for name, value in loaded.settings.weigh_in.model_dump().items())
    fixed = ", ".join(f"{name} {value}" for name, value in CONSTANTS.items())
    yield Symptom("weigh-in settings", "ok", chosen)
    yield Symptom("weigh-in constants", "ok", fixed)
    for name, section in loaded.settings.mechanisms.items():
        try:
            params = make_params(load_mechanism(name), section.given_params)
        except WeighbeamError as fault:
            yield Symptom(f"weights of {name}", "fault", fault.message, fault.remedy)
        else:
            made = f"weighing hash {hash_weighing(name, params.model_dump(mode='json'), loaded.averaging())}"
            changed = ", ".join(list_overridden(params))
            yield Symptom(f"weights of {name}", "ok", f"{made}; parameters overridden: {changed}" if changed else made)


def _check_wallet(loaded: LoadedSettings) -> Symptom:
    from weighbeam.app.identity import open_hotkey

    try:
        return Symptom("hotkey", "ok", open_hotkey(loaded).address)
    except WeighbeamError as fault:
        return Symptom("hotkey", "fault", fault.message, fault.remedy)


def _check_store(loaded: LoadedSettings) -> Symptom:
    """Whether it is there and can be read; one that is not is made at the start, if that can be."""
    from weighbeam.engine.journal.access import count_entries, view_journal

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
        return Symptom(
            "store",
            "missing",
            f"{shown}: {folder} does not exist yet",
            "check the path; the validator creates the folder",
        )
    if url.startswith(SQLITE) and not os.access(folder, os.W_OK | os.X_OK):
        return Symptom("store", "fault", f"{shown}: {folder} cannot be written", "let the validator's user write it")
    return Symptom("store", "ok", f"{shown}, still empty")


def _check_address(address: str, setting: str) -> Symptom:
    from weighbeam.network.http_server import bind, check_listen

    try:
        with closing(bind(*check_listen(address))):
            return Symptom("address", "ok", f"{address} is free")
    except WeighbeamError as fault:
        remedy = f"if a running process uses it, all is well; otherwise set {setting} to a free address"
        return Symptom("address", "missing", fault.message, remedy)


def _check_browser(program: str) -> Symptom:
    from weighbeam.senses.adapters.pages.browser.renderer import check_browser

    try:
        return Symptom("browser", "ok", f"{check_browser(program)}, confined, renders a known page")
    except WeighbeamError as fault:
        return Symptom("browser", "fault", fault.message, fault.remedy)


def _check_artifacts(url: str) -> Symptom:
    """Keep something small in the S3 store, read it and remove it."""
    from weighbeam.store.artifacts_s3 import S3Artifacts, parse_s3_url

    try:
        artifacts = S3Artifacts(parse_s3_url(url), seconds=PROBE_SECONDS)
        place = artifacts.put(PROBE, b"weighbeam doctor was here", "text/plain")
        artifacts.get(PROBE)
        artifacts.remove(PROBE)
    except WeighbeamError as fault:
        return Symptom("artifacts", "fault", fault.message, fault.remedy)
    return Symptom("artifacts", "ok", f"{place.removesuffix(PROBE)} stores, returns and deletes a test file")


def _check_cluster(loaded: LoadedSettings) -> Symptom:
    from weighbeam.app.senses import open_cluster

    try:
        cluster = open_cluster(loaded)
        assert cluster is not None
        with closing(cluster):
            size = cluster.look()
    except WeighbeamError as fault:
        return Symptom("cluster", "fault", fault.message, fault.remedy)
    return Symptom("cluster", "ok", f"{size['nodes']:g} nodes, {size['cpus']:g} cores")


def _check_answers(loaded: LoadedSettings) -> Symptom:
    """Whether each answer of the settings names a miner that is there."""
    from weighbeam.app.chains import check_registered
    from weighbeam.app.identity import open_hotkey
    from weighbeam.app.miner import load_handler
    from weighbeam.senses.local import LocalSenses

    answers = loaded.settings.miner.answers
    try:
        check_registered(loaded, open_hotkey(loaded))
        for mechanism, name in answers.items():
            load_handler(mechanism, name, LocalSenses(), loaded.folder)
    except WeighbeamError as fault:
        return Symptom("start of a miner", "fault", fault.message, fault.remedy)
    return Symptom("start of a miner", "ok", f"it would answer {', '.join(answers)}")


def _check_start(loaded: LoadedSettings) -> Symptom:
    from weighbeam.app.identity import open_hotkey
    from weighbeam.app.validator.build import check_start

    try:
        started = check_start(loaded, open_hotkey(loaded))
        if started.senses.cluster is not None:
            started.senses.cluster.close()
    except WeighbeamError as fault:
        return Symptom("start of a validator", "fault", fault.message, fault.remedy)
    for name, broken in started.broken.items():
        return Symptom("start of a validator", "fault", f"it would run without {name}: {broken.message}", broken.remedy)
    return Symptom("start of a validator", "ok", "ready to start")


def _check_chain(loaded: LoadedSettings) -> Symptom:
    from weighbeam.app.chains import look_at_chain, open_file
    from weighbeam.app.identity import open_hotkey

    section = loaded.settings.chain
    try:
        if section.kind == "bittensor":
            look = look_at_chain(loaded, open_hotkey(loaded))
            graph, rules = look.graph, look.rules
            told = f"subnet {graph.netuid}, block {graph.block}, {len(graph.neurons)} neurons, tempo {rules.tempo}"
            return Symptom("chain", "ok", f"bittensor, {told}")
        file = open_file(loaded)
    except WeighbeamError as fault:
        return Symptom("chain", "fault", fault.message, fault.remedy)
    block = file.read("head")
    file.close()
    return Symptom("chain", "ok", f"local, block {block}")


def _check_proxy(loaded: LoadedSettings) -> Symptom:
    """Whether the wallet's key may set the weights of the hotkey that the settings name."""
    from weighbeam.app.chains import find_proxying, look_at_chain, require_right
    from weighbeam.app.identity import open_hotkey
    from weighbeam.chain.proxies import describe_right

    try:
        hotkey, proxying = open_hotkey(loaded), find_proxying(loaded)
        assert proxying is not None
        given = look_at_chain(loaded, hotkey).delegations
        require_right(given, hotkey.address, proxying)
    except WeighbeamError as fault:
        return Symptom("proxy", "fault", fault.message, fault.remedy)
    return Symptom("proxy", "ok", describe_right(given, hotkey.address, proxying))
