"""A real journal of which every word that others choose is an attack on whoever looks at it."""

import asyncio
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from weighbeam.app.senses import EMBEDDED, find_web
from weighbeam.chain.local.administer import register, set_names
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.port import LocalChain
from weighbeam.demo.cast import VALIDATORS
from weighbeam.demo.subnet import PARAMS
from weighbeam.demo.subnet_files import save_validator_settings
from weighbeam.engine.alerts.alerts import Alerts
from weighbeam.engine.journal.encoding import RoundFacts
from weighbeam.engine.journal.journal import Journal
from weighbeam.engine.requests.queue import RequestTerms, insert_request
from weighbeam.engine.rules.intents import WeightsPlan
from weighbeam.engine.weights.ledger import Ledger
from weighbeam.engine.weights.metagraphs import note_metagraph
from weighbeam.mechanism.params import hash_params, make_params
from weighbeam.mechanism.records import Answer, Asked
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.senses.local import LocalSenses
from weighbeam.store import tables
from weighbeam.store.database import Store

SCRIPT = "<script>window.pwned=1</script>"
IMAGE = '"><img src=x onerror=window.pwned=1>'
CLOSING = '</script></style></title></textarea><svg onload="window.pwned=1">'
LINK = "javascript:window.pwned=1"
ODD = "\u202etxet desrever\u202c \u2066\u200f\u0007\u001b[31m{{ 7*7 }}${7*7}"
LONG = "W" * 100_000
ALL = " ".join((SCRIPT, IMAGE, CLOSING, LINK, ODD, "<b onclick='window.pwned=1'>bold</b>", "&lt;i&gt;"))
HOTKEYS = (IMAGE, LINK, SCRIPT, "W" * 64, "' onmouseover='window.pwned=1", "\u202eyektoh", "{{ 7*7 }}")
NAMES = (SCRIPT, IMAGE, CLOSING, "W" * 400, ODD, "\u202eeman\n\r\x1b]0;x\x07", "=cmd|' /C calc'!A0")
CONTRIBUTORS = (IMAGE, SCRIPT, LINK, "W" * 128, CLOSING, "\u202erotubirtnoc")
ASKED = ("chunking", "inference", "evidence")


def name_round(mechanism: str) -> str:
    """As hostile as a path of one part can be."""
    return f"{mechanism}-1 {IMAGE}"


def fill_folder(folder: Path) -> None:
    store = Store(f"sqlite:///{folder / 'validator-1.db'}")
    senses = LocalSenses(workers=1, **find_web(EMBEDDED, None, folder))
    journal, now = Journal(store), time.time()
    for mechanism in ASKED:
        play(journal, mechanism, name_round(mechanism), senses, now - 60)
        play(journal, mechanism, f"{mechanism}-2", senses, now - 30, organic=True)
        tell(store, mechanism, now)
    name_all(folder, store, now)
    desk = open_desk(store, senses, VALIDATORS[0].hotkey)
    for number, contributor in enumerate(CONTRIBUTORS):
        desk.submit(
            contributor, f"Contribution {number} tells of {SCRIPT} and of {IMAGE}, which nobody has told before."
        )
    store.close()
    save_validator_settings(folder, VALIDATORS[0])


def name_all(folder: Path, store: Store, now: float) -> None:
    """A chain on which everybody calls itself something hostile."""
    file = ChainFile.create(folder / "names.sqlite")
    for hotkey in HOTKEYS:
        register(file, hotkey)
    set_names(file, dict(zip(HOTKEYS, NAMES, strict=True)))
    chain = LocalChain(file, VALIDATORS[0].hotkey, 0)
    with ThreadPoolExecutor(1) as apart:  # a browser's tests keep a loop in this thread
        graph, rules = (apart.submit(asyncio.run, look()).result() for look in (chain.metagraph, chain.rules))
    for mechanism in ASKED:
        note_metagraph(store, mechanism, graph, rules, now)
    file.close()


def play(journal: Journal, name: str, round_id: str, senses: Any, at: float, organic: bool = False) -> None:
    """A committed round: the mechanism's own example, its words replaced."""
    mechanism = load_mechanism(name)
    params = make_params(mechanism, PARAMS[name])
    asked = spoil_round(name, mechanism.examples()[0])
    if organic:
        asked = replace(asked, task=replace(asked.task, kind="organic"))
    observation = mechanism.observe(params, asked, senses)
    digest = hash_params(mechanism, params, observation.facts["senses"])
    journal.record(
        RoundFacts(round_id, name, params.model_dump(mode="json"), digest, str(asked.seed), 7, at), asked, observation
    )
    journal.commit(round_id, mechanism)
    extra = {"round": round_id, "kind": "narrative", "at": at, "value": f"They said {ALL}.\n{LONG[:5000]}", "maker": ""}
    with journal.store.write() as connection:
        connection.execute(tables.extras.insert().values(**extra))


def spoil_round(name: str, asked: Asked) -> Asked:
    """Some answers as they were, so that there is something to pay, and hostile ones of every status."""
    honest = asked.answers[: len(HOTKEYS)]
    answers = [replace(one, hotkey=HOTKEYS[at], uid=at) for at, one in enumerate(honest)]
    for at, one in enumerate(answers[3:], 3):
        answers[at] = replace(one, payload=spoil(one.payload, ALL if at % 2 else LONG))
    answers[-1] = Answer(answers[-1].hotkey, None, 0.5, "malformed", 99, reason=f"{IMAGE} {SCRIPT}")
    body = {key: f"{value}\n\n{ALL}" if isinstance(value, str) else value for key, value in asked.task.body.items()}
    if name == "chunking":
        whole = str(body["document"])
        answers[0] = replace(answers[0], payload={"chunks": whole.split("\n\n")})
        answers[1] = replace(answers[1], payload={"chunks": [whole]})
    members = tuple(one.hotkey for one in answers)
    return replace(
        asked, task=replace(asked.task, body=body), group=replace(asked.group, members=members), answers=tuple(answers)
    )


def spoil(payload: Any, words: str) -> Any:
    """The same shape, every text of it an attack, links too."""
    if isinstance(payload, str):
        return LINK if payload.startswith("http") else f"{payload[:200]} {words}"
    if isinstance(payload, dict):
        return {**{key: spoil(value, words) for key, value in payload.items()}, SCRIPT: IMAGE}
    return [spoil(one, words) for one in payload] if isinstance(payload, list) else payload


def tell(store: Store, mechanism: str, now: float) -> None:
    alerts = Alerts(store, lambda: now)
    for code, level in (("clock_skew", "warning"), ("duplicate_answers", "warning"), ("submission_failed", "critical")):
        alerts.tell(code, level, f"{ALL} {LONG}", mechanism)
    alerts.tell("stalled", "critical", f"{LONG} {ALL}", mechanism)
    holders = tuple((hotkey, 1) for hotkey in HOTKEYS)
    uids, values = tuple(range(len(HOTKEYS))), tuple(65535 // (one + 1) for one in range(len(HOTKEYS)))
    plan = WeightsPlan(uids, values, holders, 0, 8, 1, 0, False, 1, "NORMAL", "0" * 64, "0" * 64)
    Ledger(store, mechanism).plan(plan, now)
    group = {"round": name_round(mechanism), "number": 9, "mechanism": mechanism, "at": now}
    kept = {"body": {"text": ALL}, "wanted": [IMAGE], "ranked": True}
    with store.write() as connection:
        connection.execute(tables.submissions.update().values(state="included", reason=IMAGE, included_block=9))
        connection.execute(tables.copies.insert().values(**group, hotkeys=list(HOTKEYS), cosine=0.99, overlap=0.99))
        insert_request(connection, f"{mechanism} {IMAGE}", mechanism, now, kept, RequestTerms(caller=f"token:{SCRIPT}"))


def list_paths(quote: Callable[[str], str]) -> Iterator[str]:
    yield from ("/", "/rounds", "/attacks", "/novelty", "/novelty/contributors", "/novelty/held", "/ask", "/docs")
    for mechanism in ASKED:
        at = quote(name_round(mechanism))
        yield from (f"/mechanisms/{mechanism}", f"/weights?mechanism={mechanism}", f"/rounds/{at}")
        yield from (f"/rounds/{at}/{quote(hotkey)}" for hotkey in (*HOTKEYS[:2], *HOTKEYS[3:6]))
        yield f"/rounds/{mechanism}-2"
    yield f"/compare/miners?mechanism=inference&a={quote(HOTKEYS[0])}&b={quote(HOTKEYS[4])}"
    yield f"/compare/rounds?a={quote(name_round('inference'))}&b=inference-2"
    yield f"/rounds?miner={quote(IMAGE)}&reason={quote(SCRIPT)}&sort=-state"
    yield "/compare/validators?mechanism=inference"
    for hotkey in (*HOTKEYS[:2], *HOTKEYS[3:6]):
        yield f"/miners/{quote(hotkey)}?mechanism=inference"
