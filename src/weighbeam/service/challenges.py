"""The challenge API: hand over a challenge, see where it stands.

Whoever calls shows an API token or signs as miners are asked (docs/spec/network.md); everything else is refused before
its body is read as anything.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response, Security

from weighbeam.engine.challenges import accept_challenge, find_challenge
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.network.strict_json import read_strict
from weighbeam.service import shapes_challenges as shapes
from weighbeam.service.callers import Caller
from weighbeam.service.front import Front
from weighbeam.service.gate import Gate
from weighbeam.service.pool import Pools
from weighbeam.service.routes import SHOWN
from weighbeam.service.shapes import describe, take
from weighbeam.store.database import Store

MOST_BODY = 1 << 20
CODES = {"unknown_challenge": 404, "challenge_differs": 409, "queue_full": 503}


@dataclass(frozen=True, slots=True)
class Counter:
    """What challenges are put to."""

    store: Store
    mechanism: Mechanism
    params: Params
    now: Callable[[], float]


def add_challenges(app: FastAPI, gate: Gate, counter: Counter, pools: Pools) -> None:
    """`POST /v1/challenges` and `GET /v1/challenges/{id}`."""

    front = Front(gate, MOST_BODY, CODES, pools.desk.run, pools.proofs.run, pools.tokens.run)
    route = partial(app.api_route, response_class=Response, dependencies=[Security(SHOWN)], tags=["challenges"])

    taken = describe(
        shapes.ChallengeTaken, (400, 409), {202: "it waits, or has gone on since it was first handed over"}
    )

    @route("/v1/challenges", methods=["POST"], responses=taken, openapi_extra=take(shapes.ChallengeGiven))
    async def push(request: Request) -> Response:
        """Hand over a challenge; its result comes later."""

        def work(caller: Caller, body: bytes) -> tuple[int, Any]:
            caller.check("ask")
            challenge, _ = accept_challenge(
                counter.store, counter.mechanism, counter.params, read_strict(body), caller.name, counter.now()
            )
            return 202, {**challenge.as_json(), "status_url": f"/v1/challenges/{challenge.id}"}

        return await front.answer(request, work)

    @route("/v1/challenges/{challenge_id}", methods=["GET"], responses=describe(shapes.ChallengeState, (404,)))
    async def look(request: Request, challenge_id: str) -> Response:
        """Where a challenge of yours stands, and its result."""

        def work(caller: Caller, _: bytes) -> tuple[int, Any]:
            caller.check("ask")
            return 200, find_challenge(counter.store, challenge_id, caller.name).as_json()

        return await front.answer(request, work)
