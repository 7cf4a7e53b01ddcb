"""Run a miner: serve its answers, announce where, and follow the metagraph that says who may ask."""

import asyncio
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from weighbeam.chain.local.administer import announce
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts import LOG
from weighbeam.mechanisms.evidence.bank import find_archive
from weighbeam.miners import chunking, evidence, inference
from weighbeam.miners.library import VARIANTS
from weighbeam.miners.openai_answers import openai_answerer
from weighbeam.miners.own import REMEDY, load_own
from weighbeam.miners.spoil_replies import App, spoil_replies
from weighbeam.network.keys import Hotkey
from weighbeam.network.listen import check_listen, listen
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy, PolicySettings
from weighbeam.network.serve import Handler, Served, make_miner_app
from weighbeam.operate.chains import open_chain, open_clock, open_file
from weighbeam.operate.follow import keep_policy, refresh_policy
from weighbeam.operate.identity import open_hotkey
from weighbeam.operate.role import check_role
from weighbeam.operate.stop import run_until_stopped
from weighbeam.senses.local import LocalSenses
from weighbeam.settings.load import Loaded

EVERYWHERE = ("0.0.0.0", "::")
LEAST_AT_ONCE = 4
"""Of one sender: a validator asks for all its mechanisms at once, also for those that are not answered here."""

ARCHIVE = re.compile(r"archive(?::(?P<folder>[^#]+))?(?:#(?P<variant>\d{1,2})(?:/(?P<variants>\d{1,2}))?)?")


def run_miner(loaded: Loaded) -> None:
    check_role(loaded, "miner")
    asyncio.run(run_until_stopped(serve_settings(loaded)))
    LOG.info("stopped")


async def serve_settings(loaded: Loaded, ready: Callable[[str], None] = lambda _: None) -> None:
    """Serve until cancelled; `ready` is told the address."""
    section, hotkey = loaded.settings.miner, open_hotkey(loaded)
    chain, clock = open_chain(loaded, hotkey, 0), open_clock(loaded)
    policy = Policy(
        PolicySettings(
            allow=frozenset(section.allow),
            deny=frozenset(section.deny),
            require_permit=section.require_permit,
            min_stake_rao=section.min_stake_rao,
            per_minute=section.per_minute,
            per_sender=max(LEAST_AT_ONCE, len(section.answers) + 1),
            max_tasks=section.max_tasks,
        )
    )
    nonces = NonceStore(loaded.path(section.nonces))
    app = make_app(hotkey, section.answers, nonces, policy, LocalSenses(), _log, loaded.folder)
    await refresh_policy(chain, policy)
    async with listen(app, *check_listen(section.listen)) as (host, port):
        where = section.announce or f"{host}:{port}"
        if host in EVERYWHERE and section.announce is None:
            raise WeighbeamError("bad_config", f"{where} is no address to announce", "set miner.announce")
        if loaded.settings.chain.kind == "local":
            announce(open_file(loaded), hotkey.address, where)
        else:
            LOG.warning("%s is not announced by us: set it on chain with your wallet's own tools", where)
        served = ", ".join(section.answers)
        LOG.info("miner %s serves %s on %s:%d, announced as %s", hotkey.address, served, host, port, where)
        ready(where)
        await keep_policy(chain, clock, policy)


def make_app(
    hotkey: Hotkey,
    answers: Mapping[str, str],
    nonces: NonceStore,
    policy: Policy,
    senses: LocalSenses,
    log: Callable[[Served], None] = lambda _: None,
    folder: Path = Path(),
) -> App:
    """A miner by what it answers in each mechanism; a trick of its replies spoils those of its mechanism alone."""
    handlers = {mechanism: load_handler(mechanism, name, senses, folder) for mechanism, name in answers.items()}
    app: App = make_miner_app(hotkey, handlers, nonces, policy, log)
    for mechanism, answer in answers.items():
        kind, _, trick = answer.partition(":")
        app = spoil_replies(trick, app, mechanism) if kind == "hostile" else app
    return app


def load_handler(mechanism: str, name: str, senses: LocalSenses, folder: Path) -> Handler:
    """A reference miner by name, or a function of the user's own."""
    kind, _, rest = name.partition(":")
    if mechanism == "chunking" and kind == "hostile" and rest in chunking.TRICKS:
        return chunking.hostile_miner(rest, senses)
    if mechanism == "inference" and kind == "hostile" and rest in inference.TRICKS:
        return inference.hostile_answerer(rest)
    if mechanism == "inference" and kind == "prepared" and rest.isdecimal():
        return inference.honest_answerer(int(rest))
    if mechanism == "inference" and kind == "openai":
        return openai_answerer(*_split_model(rest))
    if mechanism == "evidence" and kind == "hostile" and rest in evidence.TRICKS:
        return evidence.hostile_answerer(rest)
    if mechanism == "evidence" and kind.partition("#")[0] == "archive":
        return _search(name)
    if rest:
        return load_own(name, folder)
    if mechanism != "chunking":
        raise WeighbeamError("bad_config", f"there is no reference miner {name!r} for {mechanism}", REMEDY)
    return chunking.honest_miner(name, senses)


def _search(name: str) -> Handler:
    """`archive` is the built-in one, `archive:FOLDER` another; `#2` behind it is the variant, `#2/5` that of five."""
    read = ARCHIVE.fullmatch(name)
    variant, variants = (int(read["variant"] or 0), int(read["variants"] or VARIANTS)) if read else (1, 0)
    if read is None or variant >= variants:
        raise WeighbeamError("bad_config", f"{name} names no variant", "write archive#N or archive#N/M, from 0")
    folder = Path(read["folder"]) if read["folder"] else find_archive()
    return evidence.archive_answerer(folder, variant, variants)


def _split_model(text: str) -> tuple[str, str]:
    model, _, url = text.partition("@")
    if not model or not url:
        raise WeighbeamError("bad_config", f"openai:{text} names no model and endpoint", "write openai:MODEL@URL")
    return model, url


def _log(served: Served) -> None:
    LOG.info("%s %d %s %.3fs", served.sender or "stranger", served.status, served.code or "ok", served.seconds)
