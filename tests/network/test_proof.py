"""A reply can be proven later, to anybody, and nothing else can."""

import asyncio
import hashlib
from pathlib import Path
from typing import Any

import pytest

from network.loopback import ALICE, BOB, CHARLIE, serve_app, serve_miner
from weighbeam.network.ask import Asker, AskSettings, MinerQuestion, MinerReply, Target
from weighbeam.network.keys import Hotkey
from weighbeam.network.replies import verify_proof
from weighbeam.network.signatures import sign_reply
from weighbeam.network.signing_dialects import Btauth, Epistula


async def echo(task: dict[str, Any], seconds: float) -> Any:
    return {"chunks": [task["document"]]}


def ask(endpoint: str, dialect: str = "btauth/1", signed: bool = True) -> MinerReply:
    question = MinerQuestion("r1", "chunking", "hash", {"document": "Hello."}, 5.0, "seed")
    asker = Asker(ALICE, AskSettings(allow_private=True, require_signed=signed))
    (heard,) = asyncio.run(asker.ask_all(question, [Target(BOB.address, endpoint, dialect)]))
    return heard


def test_a_signed_reply_is_proven(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        heard = ask(endpoint)
    assert heard.proof is not None
    assert heard.proof["body"] == hashlib.sha256(b'{"payload":{"chunks":["Hello."]},"round":"r1"}').hexdigest()
    assert verify_proof(heard.proof, BOB.address, ALICE.address)
    assert not verify_proof(heard.proof, CHARLIE.address, ALICE.address)
    assert not verify_proof(heard.proof, BOB.address, CHARLIE.address)
    assert not verify_proof(heard.proof, BOB.address, ALICE.address, status=500)


def proof_of(hotkey: Hotkey = BOB) -> dict[str, str]:
    headers = sign_reply(hotkey, 200, b"reply", b"request", "1800000000000000000", ALICE.address)
    return {
        "request": hashlib.sha256(b"request").hexdigest(),
        "body": hashlib.sha256(b"reply").hexdigest(),
        "nonce": "1800000000000000000",
        "signature": headers["X-Weighbeam-Reply-Signature"],
        "scheme": hotkey.scheme,
    }


def test_proofs_hold_under_either_scheme() -> None:
    for hotkey in (BOB, Hotkey.from_uri("//Bob", "ed25519")):
        assert verify_proof(proof_of(hotkey), hotkey.address, ALICE.address)


@pytest.mark.parametrize(
    "change",
    [
        {"request": hashlib.sha256(b"other").hexdigest()}, {"body": hashlib.sha256(b"other").hexdigest()},
        {"nonce": "1800000000000000001"}, {"nonce": "01800000000000000000"}, {"nonce": ""}, {"scheme": "ed25519"},
        {"scheme": "ecdsa"}, {"signature": "0x" + "00" * 64}, {"signature": "0xzz"}, {"signature": ""},
        {"request": "A" * 64}, {"body": "x"}, {"request": None}, {"nonce": 1_800_000_000_000_000_000},
    ],
)  # fmt: skip
def test_a_changed_proof_proves_nothing(change: dict[str, Any]) -> None:
    assert not verify_proof(proof_of() | change, BOB.address, ALICE.address)


def test_half_a_proof_proves_nothing() -> None:
    whole = proof_of()
    for name in whole:
        assert not verify_proof({part: whole[part] for part in whole if part != name}, BOB.address, ALICE.address)
    assert not verify_proof(whole, "nobody", ALICE.address)


def test_unsigned_replies_come_without_proof(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path, dialects=[Btauth(), Epistula()]) as endpoint:
        heard = ask(endpoint, "epistula/2", signed=False)
    assert (heard.status, heard.proof) == ("ok", None)


def test_what_was_not_verified_is_not_proven(tmp_path: Path) -> None:
    async def forged(scope: Any, receive: Any, send: Any) -> None:
        body = b'{"round":"r1","payload":{}}'
        headers = sign_reply(BOB, 200, body, b"another request", str(10**18), ALICE.address)
        raw = [(name.encode(), value.encode()) for name, value in headers.items()]
        raw.append((b"content-length", b"%d" % len(body)))
        await send({"type": "http.response.start", "status": 200, "headers": raw})
        await send({"type": "http.response.body", "body": body})

    with serve_app(forged) as endpoint:
        heard = ask(endpoint, signed=False)
    assert (heard.status, heard.proof) == ("malformed", None)
