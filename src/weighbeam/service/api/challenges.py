"""The challenge API: submit a challenge, read its status.

Callers send an API token or sign their requests (docs/spec/network.md); everything else is refused before
its body is parsed.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from fastapi import FastAPI, Request, Response
from pydantic import BaseModel

from weighbeam.engine.requests.challenges import accept_challenge, make_challenge_model, select_challenge
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.network.strict_json import parse_strict
from weighbeam.service.api.request_shapes import RequestResult
from weighbeam.service.api.routes import declare_route, describe_responses
from weighbeam.service.http.authentication import Authenticator
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.pipeline import RequestPipeline
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store

MAX_BODY = 1 << 20
CODES = {"unknown_challenge": 404, "challenge_differs": 409, "queue_full": 503}


class ChallengeState(BaseModel):
    """Where a challenge stands, and what came of it."""

    id: str
    mechanism: str
    state: Literal["waiting", "taken", "done", "failed", "cancelled"]
    metadata: Any
    result: RequestResult | None = None


class ChallengeTaken(ChallengeState):
    status_url: str


@dataclass(frozen=True, slots=True)
class ChallengeContext:
    """Target of challenges."""

    store: Store
    mechanism: Mechanism
    params: Params
    now: Callable[[], float]


def add_challenges(app: FastAPI, authenticator: Authenticator, context: ChallengeContext, pools: ThreadPools) -> None:
    """`POST /v1/challenges` and `GET /v1/challenges/{id}`."""

    pipeline = RequestPipeline(
        authenticator, MAX_BODY, CODES, pools.submissions.run, pools.proofs.run, pools.tokens.run
    )
    route = partial(declare_route, app, tag="challenges")

    taken = describe_responses(
        ChallengeTaken, (400, 409), {202: "it is waiting, or has progressed since it was first submitted"}
    )

    @route("POST", "/v1/challenges", taken, body=make_challenge_model(context.mechanism.question_model))
    async def push(request: Request) -> Response:
        """Hand over a challenge; its result comes later."""

        def work(caller: Caller, body: bytes) -> tuple[int, Any]:
            caller.check("ask")
            challenge, _ = accept_challenge(
                context.store, context.mechanism, context.params, parse_strict(body), caller.name, context.now()
            )
            return 202, {**challenge.as_json(), "status_url": f"/v1/challenges/{challenge.id}"}

        return await pipeline.answer(request, work)

    @route("GET", "/v1/challenges/{challenge_id}", describe_responses(ChallengeState, (404,)))
    async def look(request: Request, challenge_id: str) -> Response:
        """Where a challenge of yours stands, and its result."""

        def work(caller: Caller, _: bytes) -> tuple[int, Any]:
            caller.check("ask")
            return 200, select_challenge(context.store, challenge_id, caller.name).as_json()

        return await pipeline.answer(request, work)
