"""The novelty API: submit, check, balances, receipts, history, and what an operator decides (docs/novelty-api.md).

Whoever calls shows a token with scopes, or signs as miners are asked; everything else is refused before its body is
read as anything.
"""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry

from weighbeam.core.errors import require
from weighbeam.novelty.take_in import Repeat
from weighbeam.service import shapes
from weighbeam.service.callers import Caller
from weighbeam.service.count_novelty import NoveltyCounts
from weighbeam.service.front import Front
from weighbeam.service.gate import Gate
from weighbeam.service.pool import Pools
from weighbeam.service.query import read_given
from weighbeam.service.routes import Handler, declare_route
from weighbeam.service.shapes import ask, describe, take
from weighbeam.service.teller import FILTERS, Teller

BASE = "/v1/novelty"
ESCAPED_CHARACTER = len("\\ud83d\\ude00")
MOST_REST = 8 << 10
CODES = {
    "unknown_contributor": 404,
    "unknown_contribution": 404,
    "key_conflict": 409,
    "not_held": 409,
    "budget_spent": 409,
    "implausible": 422,
    "corrupt_corpus": 500,
    "corpus_damaged": 500,
    "kernel_fault": 500,
}
TAKEN = {201: "taken in; the receipt says what was paid", 200: "the receipt of an earlier call with this key"}


def add_novelty(app: FastAPI, gate: Gate, teller: Teller, pools: Pools, registry: CollectorRegistry) -> None:
    """The routes; a body has room for the longest text whatever its escapes."""
    most = ESCAPED_CHARACTER * teller.desk.params.max_chars + MOST_REST
    front = Front(gate, most, CODES, pools.desk.run, pools.proofs.run, pools.tokens.run)
    counts = NoveltyCounts(registry, teller.desk)
    add_submit(app, front, teller, counts)
    add_reading(app, front, teller)
    add_operating(app, front, teller, counts)


def add_submit(app: FastAPI, front: Front, teller: Teller, counts: NoveltyCounts) -> None:
    route = partial(_route, app)

    @route("POST", "/contributions", describe(shapes.Receipt, (400, 409, 413, 422), TAKEN), take(shapes.Submission))
    async def submit(request: Request) -> Response:
        """Hand in a contribution: it is compared, inserted and paid in one step, and receipted."""
        began = time.monotonic()

        def work(caller: Caller, body: bytes) -> tuple[int, Any]:
            return teller.submit(caller, body, find_key(request))

        reply = await front.handle(request, work)
        counts.note_submission(reply, time.monotonic() - began)
        return reply.write()

    @route("POST", "/check", describe(shapes.Checked, (400, 413)), take(shapes.TextToCheck))
    async def check(request: Request) -> Response:
        """What a text would get now; nothing is written."""
        return await front.answer(request, teller.check)


def add_reading(app: FastAPI, front: Front, teller: Teller) -> None:
    route = partial(_route, app, "GET")

    @route("/contributors/{contributor:path}", describe(shapes.Balance, (400, 404)))
    async def balance(request: Request, contributor: str) -> Response:
        """What a contributor has earned, and what is held for it."""
        return await front.answer(request, lambda caller, _: teller.balance(caller, contributor))

    @route("/contributions/{contribution}", describe(shapes.Receipts, (400, 404)))
    async def receipts(request: Request, contribution: str) -> Response:
        """The receipt of a contribution, and of its settlement."""
        return await front.answer(request, lambda caller, _: teller.receipts(caller, contribution))

    @route("/contributions", describe(shapes.History, (400,)), ask(FILTERS))
    async def history(request: Request) -> Response:
        """Contributions, newest first."""
        return await front.answer(
            request, lambda caller, _: teller.history(caller, read_given(request, FILTERS).filters)
        )

    @route("/treasury", describe(shapes.Treasury, ()))
    async def treasury(request: Request) -> Response:
        """The whole in numbers."""
        return await front.answer(request, lambda caller, _: teller.treasury(caller))


def add_operating(app: FastAPI, front: Front, teller: Teller, counts: NoveltyCounts) -> None:
    route = partial(_route, app, "POST")

    @route("/contributions/{contribution}/release", describe(shapes.Receipt, (400, 404, 409)))
    async def release(request: Request, contribution: str) -> Response:
        """Pay what was held; the same decision twice is the same receipt."""

        def work(caller: Caller, _: bytes) -> tuple[int, Any]:
            status, receipt = teller.settle(caller, contribution, "released")
            if not isinstance(receipt, Repeat):
                counts.note_release(receipt["units"])
            return status, receipt

        return await front.answer(request, work)

    @route("/contributions/{contribution}/reject", describe(shapes.Receipt, (400, 404, 409)))
    async def reject(request: Request, contribution: str) -> Response:
        """Give back to the treasury what was held."""
        return await front.answer(request, lambda caller, _: teller.settle(caller, contribution, "rejected"))

    @route("/contributions/{contribution}/withdraw", describe(shapes.Withdrawn, (400, 404)))
    async def withdraw(request: Request, contribution: str) -> Response:
        """Delete a text. Hash and vectors stay, so that it is not paid again."""
        return await front.answer(request, lambda caller, _: teller.withdraw(caller, contribution))


def find_key(request: Request) -> str | None:
    """The header Idempotency-Key."""
    named = request.headers.getlist("idempotency-key")
    require(len(named) < 2, "bad_key", "the header Idempotency-Key comes twice", "give one")
    return named[0] if named else None


def _route(
    app: FastAPI, method: str, path: str, responses: dict[Any, Any], extra: dict[str, Any] | None = None
) -> Callable[[Handler], Handler]:
    return declare_route(app, method, f"{BASE}{path}", responses, extra, "novelty")
