"""The novelty API (docs/guides/novelty-api.md): submit, check, balances, receipts, history, what an operator decides.

Callers send a token with scopes, or sign their requests; everything else is refused before its body is
parsed.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any

from fastapi import FastAPI, Request, Response
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from pydantic import BaseModel

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk
from weighbeam.mechanisms.novelty.desk.intake import RepeatedReceipt
from weighbeam.mechanisms.novelty.service import shapes
from weighbeam.mechanisms.novelty.service.handlers import NoveltyApi
from weighbeam.service.api.bodies import find_key
from weighbeam.service.api.query import Query, parse_query
from weighbeam.service.api.routes import Handler, Responses, declare_route, describe_responses
from weighbeam.service.http.authentication import Authenticator
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.pipeline import ApiReply, RequestPipeline
from weighbeam.service.http.threads import ThreadPools

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class CorpusCollector(Collector):
    """How much there is to compare with, as it is when asked; one looks at a time, so that connections are left."""

    def __init__(self, desk: NoveltyDesk) -> None:
        self._desk = desk
        self._lock = threading.Lock()

    def collect(self) -> Iterator[Metric]:
        size = GaugeMetricFamily("weighbeam_novelty_corpus_pieces", "pieces in the corpus")
        with self._lock, suppress(WeighbeamError):
            size.add_metric([], self._desk.count_pieces())
        yield size


class NoveltyCounts:
    """Counts of this process since it started."""

    def __init__(self, registry: CollectorRegistry, desk: NoveltyDesk) -> None:
        self._submissions = Counter(
            "weighbeam_novelty_submissions", "submissions by outcome", ["outcome"], registry=registry
        )
        self._paid = Counter("weighbeam_novelty_paid_units", "units paid, by reward or release", registry=registry)
        self._seconds = Histogram(
            "weighbeam_novelty_submit_seconds", "time of a submission", buckets=SECONDS, registry=registry
        )
        registry.register(CorpusCollector(desk))

    def note_submission(self, reply: ApiReply, seconds: float) -> None:
        """A refusal by its code, a repeated key as `repeated`, else the status of the receipt."""
        repeated = reply.status == 200
        outcome = reply.refusal or ("repeated" if repeated else reply.content["status"])
        self._submissions.labels(outcome).inc()
        self._seconds.observe(seconds)
        if outcome == "paid":
            self._paid.inc(reply.content["units"])

    def note_release(self, units: int) -> None:
        self._paid.inc(units)


BASE = "/v1/novelty"
ESCAPED_CHARACTER = len("\\ud83d\\ude00")
MAX_REST = 8 << 10
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
TAKEN = {201: "accepted; the receipt states the pay", 200: "the receipt of an earlier call with this key"}


def add_novelty(
    app: FastAPI, authenticator: Authenticator, api: NoveltyApi, pools: ThreadPools, registry: CollectorRegistry
) -> None:
    """The routes; a body has room for the longest text whatever its escapes."""
    limit = ESCAPED_CHARACTER * api.desk.params.max_chars + MAX_REST
    pipeline = RequestPipeline(authenticator, limit, CODES, pools.submissions.run, pools.proofs.run, pools.tokens.run)
    counts = NoveltyCounts(registry, api.desk)
    add_submit(app, pipeline, api, counts)
    add_reading(app, pipeline, api)
    add_operating(app, pipeline, api, counts)


def add_submit(app: FastAPI, pipeline: RequestPipeline, api: NoveltyApi, counts: NoveltyCounts) -> None:
    route = partial(_route, app)

    @route(
        "POST",
        "/contributions",
        describe_responses(shapes.Receipt, (400, 409, 413, 422), TAKEN),
        body=shapes.NoveltySubmissionBody,
    )
    async def submit(request: Request) -> Response:
        """Hand in a contribution: it is compared, inserted and paid in one step, and receipted."""
        began = time.monotonic()

        def work(caller: Caller, body: bytes) -> tuple[int, Any]:
            return api.submit(caller, body, find_key(request))

        reply = await pipeline.handle(request, work)
        counts.note_submission(reply, time.monotonic() - began)
        return reply.write()

    @route("POST", "/check", describe_responses(shapes.NoveltyCheckShown, (400, 413)), body=shapes.TextToCheck)
    async def check(request: Request) -> Response:
        """Pay that a text would get now; nothing is written."""
        return await pipeline.answer(request, api.check)


def add_reading(app: FastAPI, pipeline: RequestPipeline, api: NoveltyApi) -> None:
    route = partial(_route, app, "GET")

    @route("/contributors/{contributor:path}", describe_responses(shapes.Balance, (400, 404)))
    async def balance(request: Request, contributor: str) -> Response:
        """A contributor's earnings, and units held for it."""
        return await pipeline.answer(request, lambda caller, _: api.balance(caller, contributor))

    @route("/contributions/{contribution}", describe_responses(shapes.Receipts, (400, 404)))
    async def receipts(request: Request, contribution: str) -> Response:
        """The receipt of a contribution, and of its settlement."""
        return await pipeline.answer(request, lambda caller, _: api.receipts(caller, contribution))

    @route("/contributions", describe_responses(shapes.History, (400,)), query=shapes.HistoryQuery)
    async def history(request: Request) -> Response:
        """Contributions, newest first."""
        return await pipeline.answer(
            request, lambda caller, _: api.history(caller, parse_query(request, shapes.HistoryQuery))
        )

    @route("/treasury", describe_responses(shapes.Treasury, ()))
    async def treasury(request: Request) -> Response:
        """The whole in numbers."""
        return await pipeline.answer(request, lambda caller, _: api.treasury(caller))


def add_operating(app: FastAPI, pipeline: RequestPipeline, api: NoveltyApi, counts: NoveltyCounts) -> None:
    route = partial(_route, app, "POST")

    @route("/contributions/{contribution}/release", describe_responses(shapes.Receipt, (400, 404, 409)))
    async def release(request: Request, contribution: str) -> Response:
        """Pay what was held; the same decision twice is the same receipt."""

        def work(caller: Caller, _: bytes) -> tuple[int, Any]:
            status, receipt = api.settle(caller, contribution, "released")
            if not isinstance(receipt, RepeatedReceipt):
                counts.note_release(receipt["units"])
            return status, receipt

        return await pipeline.answer(request, work)

    @route("/contributions/{contribution}/reject", describe_responses(shapes.Receipt, (400, 404, 409)))
    async def reject(request: Request, contribution: str) -> Response:
        """Give back to the treasury what was held."""
        return await pipeline.answer(request, lambda caller, _: api.settle(caller, contribution, "rejected"))

    @route("/contributions/{contribution}/withdraw", describe_responses(shapes.Withdrawn, (400, 404)))
    async def withdraw(request: Request, contribution: str) -> Response:
        """Delete a text. Hash and vectors stay, so that it is not paid again."""
        return await pipeline.answer(request, lambda caller, _: api.withdraw(caller, contribution))


def _route(
    app: FastAPI,
    method: str,
    path: str,
    responses: Responses,
    body: type[BaseModel] | None = None,
    query: type[Query] = Query,
) -> Callable[[Handler], Handler]:
    return declare_route(app, method, f"{BASE}{path}", responses, "novelty", body, query)
