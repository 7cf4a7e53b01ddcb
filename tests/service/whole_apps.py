"""Both apps that are run, whole, over a journal full of hostile words: that of `weighbeam serve`, and a validator's."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry

from browser.hostile_journal import ASKED, CONTRIBUTORS, HOTKEYS, IMAGE, LINK, fill_folder, name_round
from network.loopback import serve_app
from service.holders import place
from weighbeam.app.identity import open_hotkey
from weighbeam.app.service.access import open_access
from weighbeam.app.service.server import make_own_app
from weighbeam.app.settings.sources import LoadedSettings, load_settings
from weighbeam.app.validator.build import build_validator, open_store
from weighbeam.app.validator.run import make_validator_app
from weighbeam.chain.local.blocks import advance
from weighbeam.demo.subnet import create_chain
from weighbeam.engine.journal.head import HeadSigner
from weighbeam.engine.requests.queue import RequestTerms, cancel_request, insert_request
from weighbeam.engine.rounds.narrative import name_heatmap
from weighbeam.network.keys import Hotkey
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store import tables
from weighbeam.store.artifacts import open_artifacts
from weighbeam.store.database import Store

SCOPES = ("ask", "read", "admin", "check", "submit", "operate")
DONE = "done-before"
TEXT = f"Sea otters hold hands while they sleep, so that they do not drift apart. {LINK} {IMAGE}"
KNOWN: Mapping[str, tuple[Any, ...]] = {
    "round_id": (*map(name_round, ASKED), *(f"{name}-2" for name in ASKED)),
    "hotkey": (*HOTKEYS[:2], HOTKEYS[5], LINK),
    "mechanism": (*ASKED, "novelty"),
    "request_id": (DONE,),
    "contributor": CONTRIBUTORS,
    "contribution": ("1", "2", "3", "4", "5", "6", "99999999999999999999"),
    "/v1/chunking/requests": ({"document": TEXT * 9, "chunk_size": 100}, {"document": TEXT, "wanted": [IMAGE]}),
    "/v1/inference/requests": ({"prompt": TEXT}, {"messages": [{"role": "user", "content": TEXT}], "ranked": True}),
    "/v1/evidence/requests": ({"statement": TEXT}, {"statement": TEXT, "priority": "low"}),
    "/v1/challenges": ({"id": "q-1", "prompt": TEXT}, {"id": "q-1", "prompt": IMAGE}, {"id": "q-2", "prompt": TEXT}),
    "/v1/novelty/contributions": ({"contributor": IMAGE, "text": TEXT}, {"contributor": "ada", "text": "xqzv " * 9}),
    "/v1/novelty/check": ({"text": TEXT}, {"text": TEXT.upper()}, {"text": "\ud800 lone"}),
}
PNG = b"\x89PNG\r\n\x1a\nnot much of a picture"


def fill(folder: Path) -> LoadedSettings:
    """Settings, a chain with everybody, a journal, and a token for everything."""
    fill_folder(folder)
    chain = create_chain(folder)
    advance(chain, 1)
    chain.close()
    store = Store(f"sqlite:///{folder / 'validator-1.db'}")
    place(store, "all", SCOPES, per_minute=1_000_000)
    kept = {"body": {"document": "A document."}, "wanted": [], "ranked": True}
    with store.write() as connection:
        insert_request(connection, DONE, "chunking", 1.0, kept, RequestTerms(caller="token:all"))
    cancel_request(store, DONE)
    draw(store, folder)
    (folder / "prompts").mkdir()
    (folder / "prompts" / "one.txt").write_text("Why is the sky blue?\n", "utf-8")
    environment = {"WEIGHBEAM_SERVICE__PER_MINUTE": "1000000", "WEIGHBEAM_NOVELTY__PER_MINUTE": "1000000"}
    loaded = load_settings(folder / "validator-1.toml", environment)
    sign_as_it_is(store, open_hotkey(loaded))
    store.close()
    return loaded


def sign_as_it_is(store: Store, key: Hotkey) -> None:
    """A head for a journal that was written without one, which a validator would refuse."""
    signer = HeadSigner(key, time.time)
    store.signers.append(signer)
    with store.write() as connection:
        signer.begin(connection)


def draw(store: Store, folder: Path) -> None:
    """A heatmap of a round of inference."""
    kept = open_artifacts(str(folder / "artifacts")).put(name_heatmap("inference-2"), PNG, "image/png")
    row = {"round": "inference-2", "kind": "heatmap", "at": 1.0, "value": kept, "maker": ""}
    with store.write() as connection:
        connection.execute(tables.extras.insert().values(**row))


@contextmanager
def open_served(loaded: LoadedSettings) -> Iterator[str]:
    """What `weighbeam serve` serves; gives its address."""
    store, pools, hotkey = open_store(loaded), ThreadPools(), open_hotkey(loaded)
    access = open_access(loaded, store, hotkey.address, loaded.settings.service.listen, pools)
    with serve_app(make_own_app(access, store, hotkey)) as endpoint:
        yield f"http://{endpoint}"
    pools.close()
    store.close()


@contextmanager
def open_validator(loaded: LoadedSettings) -> Iterator[str]:
    """What a validator serves of itself; no round is played."""
    built, pools = build_validator(loaded), ThreadPools()
    listen = loaded.settings.validator.listen
    assert listen is not None
    app, _ = make_validator_app(built, loaded, listen, pools, CollectorRegistry())
    with serve_app(app) as endpoint:
        yield f"http://{endpoint}"
    pools.close()
    built.runtime.store.close()


OPEN = {"serve": open_served, "validator": open_validator}
