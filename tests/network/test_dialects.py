"""Dialects: each signs what it verifies, refuses every change, and is chosen, never guessed."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

import httpx2
import pytest

from network.loopback import ALICE, BOB, CHARLIE, serve_app, serve_miner
from weighbeam.core.errors import WeighbeamError
from weighbeam.network.ask import Asker, AskSettings, MinerQuestion, MinerReply, Target
from weighbeam.network.keys import Hotkey
from weighbeam.network.nonces import NonceClock
from weighbeam.network.request_auth import SignedRequest
from weighbeam.network.signing_dialects import DIALECTS, Btauth, Epistula, OutgoingRequest, find_dialect

NOW = 1_800_000_000_000_000_000
MS = 1_000_000
BODY = b'{"round": "r"}'
PATH = "/weighbeam/1/chunking/ask"
BOTH = (Btauth(), Epistula())
UUID = "Epistula-Uuid"


def written(nonce: int = NOW, hotkey: Hotkey = ALICE, receiver: str = BOB.address) -> dict[str, str]:
    return Epistula().sign(hotkey, OutgoingRequest("POST", PATH, BODY, str(nonce), receiver)).headers


def judge(
    headers: dict[str, str] | list[tuple[str, str]], body: bytes = BODY, seen: set[Any] | None = None, now: int = NOW
) -> str:
    """The sender, or the code of the refusal; what is remembered goes to `seen`."""
    memory = seen if seen is not None else set()

    def is_new(sender: str, request_id: str, signed_at: int) -> bool:
        known = (sender, request_id) in memory
        memory.add((sender, request_id))
        return not known

    pairs = list(headers.items()) if isinstance(headers, dict) else headers
    try:
        return Epistula().verify(SignedRequest("POST", PATH, pairs, body), BOB.address, now, is_new).sender
    except WeighbeamError as refusal:
        return refusal.code


def test_epistula_is_the_text_and_the_headers_others_send() -> None:
    headers = written()
    assert set(headers) == {
        "Epistula-Version", "Epistula-Timestamp", UUID, "Epistula-Signed-By", "Epistula-Signed-For",
        "Epistula-Request-Signature",
    }  # fmt: skip
    text = f"{hashlib.sha256(BODY).hexdigest()}.{headers[UUID]}.{NOW // MS}.{BOB.address}"
    import bittensor_core as library

    signature = bytes.fromhex(headers["Epistula-Request-Signature"].removeprefix("0x"))
    assert library.verify(text.encode(), signature, ALICE.address, library.CRYPTO_SR25519)
    assert judge(headers) == ALICE.address


@pytest.mark.parametrize("name", sorted(written()))
@pytest.mark.parametrize("how", ["missing", "empty", "doubled"])
def test_each_header_comes_once(name: str, how: str) -> None:
    headers = written()
    pairs = [(other, value) for other, value in headers.items() if other != name]
    pairs += {"missing": [], "empty": [(name, "")], "doubled": [(name, headers[name]), (name.lower(), headers[name])]}[
        how
    ]
    seen: set[Any] = set()
    expected = "wrong_receiver" if name == "Epistula-Signed-For" and how != "doubled" else "malformed_auth"
    assert judge(pairs, seen=seen) == expected
    assert not seen


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"Epistula-Version": "1"}, "malformed_auth"),
        ({"Epistula-Version": "02"}, "malformed_auth"),
        ({"Epistula-Timestamp": "0"}, "malformed_auth"),
        ({"Epistula-Timestamp": f"0{NOW // MS}"}, "malformed_auth"),
        ({"Epistula-Timestamp": f"{NOW // MS}.0"}, "malformed_auth"),
        ({"Epistula-Timestamp": str(NOW // MS + 1)}, "bad_signature"),
        ({"Epistula-Timestamp": str(NOW // 10**9)}, "stale"),
        ({"Epistula-Timestamp": str(NOW)}, "stale"),
        ({UUID: "6fa459ea-ee8a-3ca4-894e-db77e160355e"}, "malformed_auth"),
        ({UUID: "16FD2706-8BAF-433B-82EB-8C7FADA847DA"}, "malformed_auth"),
        ({UUID: "16fd27068baf433b82eb8c7fada847da"}, "malformed_auth"),
        ({UUID: "{16fd2706-8baf-433b-82eb-8c7fada847da}"}, "malformed_auth"),
        ({UUID: "16fd2706-8baf-433b-c2eb-8c7fada847da"}, "malformed_auth"),
        ({UUID: "1"}, "malformed_auth"),
        ({UUID: "16fd2706-8baf-433b-82eb-8c7fada847da"}, "bad_signature"),
        ({"Epistula-Signed-By": CHARLIE.address}, "bad_signature"),
        ({"Epistula-Signed-By": ALICE.address.lower()}, "malformed_auth"),
        ({"Epistula-Signed-By": ALICE.address + " "}, "malformed_auth"),
        ({"Epistula-Signed-For": CHARLIE.address}, "wrong_receiver"),
        ({"Epistula-Signed-For": BOB.address.lower()}, "wrong_receiver"),
        ({"Epistula-Request-Signature": "0x" + "00" * 64}, "bad_signature"),
        ({"Epistula-Request-Signature": "00" * 64}, "malformed_auth"),
        ({"Epistula-Request-Signature": "0x" + "AB" * 64}, "malformed_auth"),
        ({"Epistula-Request-Signature": "0x" + "ab" * 63}, "malformed_auth"),
    ],
)
def test_every_change_is_refused(changes: dict[str, str], code: str) -> None:
    seen: set[Any] = set()
    assert judge(written() | changes, seen=seen) == code
    assert not seen


def test_another_body_another_addressee_and_an_unbound_request_are_refused() -> None:
    assert judge(written(), body=BODY + b" ") == "bad_signature"
    assert judge(written(receiver=CHARLIE.address)) == "wrong_receiver"
    unbound = written(receiver="")
    assert judge(unbound) == "wrong_receiver"
    assert judge(unbound | {"Epistula-Signed-For": BOB.address}) == "bad_signature"


@pytest.mark.parametrize(
    ("age_ns", "verdict"),
    [(8 * 10**9, ALICE.address), (8 * 10**9 + 1, "stale"), (-2 * 10**9, ALICE.address), (-2 * 10**9 - 1, "stale")],
)
def test_the_window_is_eight_seconds_back_and_two_ahead(age_ns: int, verdict: str) -> None:
    assert judge(written(), now=NOW + age_ns) == verdict


def test_an_id_counts_once_whatever_the_order_and_case_of_the_headers() -> None:
    seen: set[Any] = set()
    headers = written()
    assert judge(headers, seen=seen) == ALICE.address
    assert seen == {(ALICE.address, headers[UUID])}
    again = [(name.upper(), value) for name, value in reversed(headers.items())]
    assert judge(again, seen=seen) == "replayed"


def test_secret_signatures_are_ignored() -> None:
    pairs = [*written().items(), *([("Epistula-Secret-Signature-0", "0xnonsense")] * 2)]
    assert judge(pairs) == ALICE.address


def test_epistula_is_signed_with_sr25519_alone() -> None:
    with pytest.raises(WeighbeamError, match="bad_scheme"):
        written(hotkey=Hotkey.from_uri("//Alice", "ed25519"))


def test_dialects_are_found_by_name() -> None:
    assert {name: find_dialect(name).name for name in DIALECTS} == {name: name for name in DIALECTS}
    with pytest.raises(WeighbeamError, match="unknown_dialect"):
        find_dialect("dendrite/10")


def test_no_dialect_may_outlive_the_memory_of_nonces(tmp_path: Path) -> None:
    with (
        pytest.raises(WeighbeamError, match="window_too_long"),
        serve_miner(echo, tmp_path, dialects=[Btauth(max_age_seconds=59)]),
    ):
        pass


async def echo(task: dict[str, Any], seconds: float) -> Any:
    return {"chunks": [task["document"]]}


def ask(endpoint: str, dialect: str, signed: bool = True, hotkey: Hotkey = ALICE) -> MinerReply:
    question = MinerQuestion("r1", "chunking", "hash", {"document": "Hello."}, 5.0, "seed")
    asker = Asker(hotkey, AskSettings(allow_private=True, require_signed=signed))
    (heard,) = asyncio.run(asker.ask_all(question, [Target(BOB.address, endpoint, dialect)]))
    return heard


def test_a_miner_that_accepts_both_is_asked_in_either(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path, dialects=BOTH) as endpoint:
        assert ask(endpoint, "btauth/1").status == "ok"
        heard = ask(endpoint, "epistula/2", signed=False)
        assert (heard.status, heard.payload) == ("ok", {"chunks": ["Hello."]})


def test_an_unsigned_reply_is_refused_unless_signed_ones_are_only_preferred(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path, dialects=BOTH) as endpoint:
        heard = ask(endpoint, "epistula/2")
        assert (heard.status, heard.reason) == ("malformed", "unsigned_reply")


def test_a_miner_accepts_btauth_alone_unless_told(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path) as endpoint:
        heard = ask(endpoint, "epistula/2", signed=False)
        assert (heard.status, heard.reason) == ("error", "401")
    with serve_miner(echo, tmp_path, dialects=[Epistula()]) as endpoint:
        assert ask(endpoint, "btauth/1", signed=False).reason == "401"


def test_a_refused_dialect_is_not_tried_in_another(tmp_path: Path) -> None:
    asked: list[set[str]] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        asked.append({name.decode() for name, _ in scope["headers"]})
        await send({"type": "http.response.start", "status": 401, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    with serve_app(app) as endpoint:
        assert ask(endpoint, "epistula/2").status == "error"
    (headers,) = asked
    assert "epistula-version" in headers
    assert "x-bittensor-version" not in headers
    assert "x-weighbeam-request" in headers


def test_our_own_mistakes_are_not_charged_to_the_miner(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path, dialects=BOTH) as endpoint:
        heard = ask(endpoint, "dendrite/10")
        assert (heard.status, heard.reason) == ("validator_error", "unknown_dialect")
        heard = ask(endpoint, "epistula/2", hotkey=Hotkey.from_uri("//Alice", "ed25519"))
        assert (heard.status, heard.reason) == ("validator_error", "bad_scheme")


def post(endpoint: str, *dialects: Btauth | Epistula, nonce: str = "") -> tuple[int, str | None]:
    body = json.dumps({"round": "r", "task": {"document": "d"}, "deadline_seconds": 3}).encode()
    outgoing = OutgoingRequest("POST", PATH, body, nonce or NonceClock().next(), BOB.address)
    headers: dict[str, str] = {}
    for dialect in dialects:
        headers |= dialect.sign(ALICE, outgoing).headers
    return send(httpx2.Request("POST", f"http://{endpoint}{PATH}", content=body, headers=headers))


def send(request: httpx2.Request) -> tuple[int, str | None]:
    with httpx2.Client(trust_env=False) as client:
        response = client.send(request)
        return response.status_code, response.json().get("error")


def test_a_request_is_judged_by_the_one_version_header_it_carries(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path, dialects=BOTH) as endpoint:
        assert post(endpoint, Btauth())[0] == 200
        assert post(endpoint, Epistula())[0] == 200
        assert post(endpoint, *BOTH) == (401, "malformed_auth")
        assert post(endpoint) == (401, "malformed_auth")


def test_epistula_is_remembered_over_http_and_a_restart(tmp_path: Path) -> None:
    with serve_miner(echo, tmp_path, dialects=BOTH) as endpoint:
        body = b'{"round": "r", "task": {"document": "d"}, "deadline_seconds": 3}'
        signed = Epistula().sign(ALICE, OutgoingRequest("POST", PATH, body, NonceClock().next(), BOB.address))

        def again(where: str) -> tuple[int, str | None]:
            return send(httpx2.Request("POST", f"http://{where}{PATH}", content=body, headers=signed.headers))

        assert again(endpoint)[0] == 200
        assert again(endpoint) == (401, "replayed")
    with serve_miner(echo, tmp_path, dialects=BOTH) as endpoint:
        assert again(endpoint) == (401, "replayed")
