"""The challenge API: hand over a challenge, see where it stands, read the records of copies.

Whoever calls shows an API token or signs as miners are asked (docs/spec/network.md); everything else is refused before
its body is read as anything.
"""

import asyncio
import hashlib
import hmac
import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.requests import ClientDisconnect

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.aftermath import list_copies
from weighbeam.engine.alerts import tell_fault
from weighbeam.engine.challenges import accept_challenge, find_challenge
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.network import verify_request as auth
from weighbeam.network.dialects.btauth import Btauth
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy
from weighbeam.network.serve import STATUS, receive
from weighbeam.network.strict_json import read_strict
from weighbeam.store.database import Store

MOST_BODY = 1 << 20
MOST_COPIES = 1000
BEARER = "bearer "
HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 429: {"Retry-After": "5"}, 503: {"Retry-After": "5"}}
REMEDY = "show a token as a bearer, or sign the request: docs/challenges.md"
CODES = {
    **STATUS,
    "bad_token": 401,
    "unknown_challenge": 404,
    "challenge_differs": 409,
    "queue_full": 503,
    "store_fault": 503,
}


@dataclass(frozen=True, slots=True)
class Gate:
    """Who may use the API: tokens by the SHA-256 of each, and hotkeys the policy lets in."""

    own_address: str
    tokens: Mapping[str, str]
    policy: Policy
    nonces: NonceStore

    def prove(self, given: auth.Request) -> str:
        """Who calls."""
        named = [value for name, value in given.headers if name.lower() == "authorization"]
        if not named:
            return Btauth().verify(given, self.own_address, time.time_ns(), self._is_new).sender
        if len(named) == 1 and named[0].lower().startswith(BEARER):
            shown = hashlib.sha256(named[0][len(BEARER) :].strip().encode("latin-1")).hexdigest()
            for digest, name in self.tokens.items():
                if hmac.compare_digest(digest, shown):
                    return f"token:{name}"
        raise WeighbeamError("bad_token", "this token is not known here", "ask the operator for one")

    def _is_new(self, sender: str, request_id: str, signed_at: int) -> bool:
        """Nothing is written down for whoever may not call anyway."""
        require(sender in self.policy.settings.allow, "not_allowed", "this hotkey may not call", "ask the operator")
        try:
            return self.nonces.is_new(sender, request_id, signed_at)
        except sqlite3.Error:
            raise WeighbeamError("busy", "the nonces cannot be written", "call again later") from None


@dataclass(frozen=True, slots=True)
class Counter:
    """What challenges are put to."""

    store: Store
    mechanism: Mechanism
    params: Params
    now: Callable[[], float]


def add_challenges(app: FastAPI, gate: Gate, counter: Counter) -> None:
    """`POST /v1/challenges`, `GET /v1/challenges/{id}`, `GET /v1/copies`."""

    async def serve(request: Request, work: Callable[[str, bytes], tuple[int, Any]]) -> Response:
        try:
            given = await receive(request, MOST_BODY)
            caller = await asyncio.to_thread(gate.prove, given)
            with gate.policy.admit(caller):
                status, content = await asyncio.to_thread(work, caller, given.body)
        except WeighbeamError as refusal:
            status = CODES.get(refusal.code, 400)
            content = {"error": refusal.code, "message": refusal.message, "remedy": refusal.remedy or REMEDY}
        except ClientDisconnect:
            status, content = 499, {"error": "disconnected"}
        except Exception as fault:
            tell_fault(fault)
            status, content = 500, {"error": "handler_fault"}
        return Response(json.dumps(content), status, HEADERS.get(status), "application/json")

    @app.post("/v1/challenges")
    async def push(request: Request) -> Response:
        def work(caller: str, body: bytes) -> tuple[int, Any]:
            challenge, _ = accept_challenge(
                counter.store, counter.mechanism, counter.params, read_strict(body), caller, counter.now()
            )
            return 202, {**challenge.as_json(), "status_url": f"/v1/challenges/{challenge.id}"}

        return await serve(request, work)

    @app.get("/v1/challenges/{challenge_id}")
    async def look(request: Request, challenge_id: str) -> Response:
        return await serve(
            request, lambda caller, _: (200, find_challenge(counter.store, challenge_id, caller).as_json())
        )

    @app.get("/v1/copies")
    async def copies(request: Request) -> Response:
        hotkey = request.query_params.get("hotkey")
        return await serve(request, lambda *_: (200, {"copies": list_copies(counter.store, MOST_COPIES, hotkey)}))
