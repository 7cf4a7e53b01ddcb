"""Answers of the reading API: permission, query, one computation per store version, and an ETag."""

import hashlib
import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, overload

from fastapi import FastAPI, Request, Response

from weighbeam.engine.journal.recall import recall_round
from weighbeam.engine.rules.constants import Averaging
from weighbeam.engine.scoring import ScoreResult
from weighbeam.engine.views.miner import MinerView, select_miner
from weighbeam.engine.views.names import NameBook, load_names
from weighbeam.engine.views.round_view import is_asked, is_asker
from weighbeam.engine.views.rounds import is_settled
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Observation
from weighbeam.network.keys import Hotkey
from weighbeam.service.api.query import Query, parse_query
from weighbeam.service.api.routes import Handler, declare_read
from weighbeam.service.http.cache import LruCache, StoreCache
from weighbeam.service.http.callers import Caller
from weighbeam.service.http.pipeline import SEALED_HEADERS, ApiReply, RequestPipeline
from weighbeam.service.tables.files import TableFile
from weighbeam.store.artifacts import Artifacts
from weighbeam.store.database import Store

JSON = "application/json"
MAX_RECALLED, LARGEST_RECALLED = 48 << 20, 8 << 20
MAX_ASKED = 100_000
CODES = {
    "unknown_round": 404,
    "unknown_hotkey": 404,
    "unknown_mechanism": 404,
    "no_picture": 404,
    "no_such_artifact": 404,
    "bad_artifact_name": 404,
    "not_scored": 409,
    "artifact_fault": 503,
    "blob_missing": 503,
    "blob_damaged": 503,
}
SAFE = {**SEALED_HEADERS, "Cache-Control": "private, no-cache", "Vary": "Authorization"}


@dataclass(frozen=True, slots=True)
class CachedReply:
    """An answer as it is sent."""

    body: bytes
    kind: str
    etag: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.body)


@dataclass(frozen=True, slots=True)
class ReadingContext:
    """Sources of the reading API: the store, the settings without secrets, and the health of the process.

    `aliases` are names of miners, by hotkey; `speed` is how many times as fast as the wall's the clock goes.
    `journals` are those of other validators, by the name they are shown under."""

    store: Store
    mechanisms: Mapping[str, tuple[Mechanism, Params]]
    averaging: Averaging
    artifacts: Artifacts
    hotkey: Hotkey
    now: Callable[[], float]
    settings: Callable[[], list[dict[str, Any]]]
    health: Callable[[], tuple[int, dict[str, Any]]]
    aliases: Mapping[str, str] = field(default_factory=dict)
    speed: float = 1.0
    journals: Mapping[str, str] = field(default_factory=dict)

    def load_names(self) -> NameBook:
        """Load the names of miners for display."""
        return load_names(self.store, self.aliases)

    @overload
    def resolve(self, miner: str, mechanism: str | None = None) -> str: ...

    @overload
    def resolve(self, miner: str | None, mechanism: str | None = None) -> str | None: ...

    def resolve(self, miner: str | None, mechanism: str | None = None) -> str | None:
        """The hotkey that a name, a uid or the beginning of a hotkey means."""
        return None if miner is None else self.load_names().resolve(miner, mechanism)


@dataclass(frozen=True, slots=True)
class ReadingApi:
    """Answers GETs through a gate, out of what is kept."""

    pipeline: RequestPipeline
    shown: ReadingContext
    fresh: StoreCache
    recalled: LruCache = field(default_factory=lambda: LruCache(MAX_RECALLED, LARGEST_RECALLED))
    asked: LruCache = field(default_factory=lambda: LruCache(MAX_ASKED, 1))

    def declare(
        self,
        app: FastAPI,
        path: str,
        done: Any,
        tag: str,
        query: type[Query] = Query,
        refused: tuple[int, ...] = (),
        scope: str = "read",
        seconds: float | None = None,
        settles: bool = False,
        private: bool = False,
        files: Iterable[str] = (),
    ) -> Callable[[Handler], Handler]:
        """Serve the result of a function of query and path: JSON, the bytes of a picture, or one of some `files`.

        A result that depends on the time expires after `seconds`; one that `settles` stays once its round is final.
        Users' texts of a `private` round are shown to admins and to their author only: instead of the query, the
        function gets whether to withhold them.
        """

        def add(read: Handler) -> Handler:
            async def handle(request: Request) -> Response:
                parts = request.path_params
                round_id = parts["round_id"] if settles or private else None

                def name(told: Query | bool) -> tuple[Hashable, ...]:
                    return request.scope["path"], told, None if seconds is None else self.shown.now() // seconds

                def work(caller: Caller, _: bytes) -> tuple[int, Any]:
                    caller.check(scope)
                    given = parse_query(request, query)
                    told = self._withholds(caller, round_id) if private and round_id else given
                    made = self.fresh.get(
                        name(told), lambda: make_cached_reply(read(told, **parts)), self.settles(round_id)
                    )
                    return 200, made

                def recall(caller: Caller, crowded: bool) -> tuple[int, Any] | None:
                    if private and not caller.is_anyone and self.asked.find(round_id) is not False:
                        return None
                    caller.check(scope)
                    given = parse_query(request, query)
                    return self.fresh.recall(name(True if private else given), crowded)

                return respond(await self.pipeline.handle(request, work, recall), request)

            declare_read(app, path, done, tag, query, refused, read, files)(handle)
            return read

        return add

    def recall_round(self, round_id: str) -> ScoreResult:
        """A round scored again, cached for the routes that show it."""
        found: ScoreResult | None = self.recalled.find(round_id)
        if found is None:
            found = recall_round(self.shown.store, round_id)
            if is_settled(self.shown.store, round_id, self.shown.now()):
                self.recalled.keep(round_id, found, measure_observation(found.observation))
        return found

    def read_miner(self, mechanism: Mechanism, hotkey: str) -> MinerView:
        """The same for the API and for its page."""
        shown = self.shown
        return self.fresh.get(
            ("miner", mechanism.name, hotkey), lambda: select_miner(shown.store, mechanism, hotkey, shown.averaging)
        )

    def settles(self, round_id: str | None) -> Callable[[], bool] | None:
        """Whether everything shown of a round is final."""
        return None if round_id is None else lambda: is_settled(self.shown.store, round_id, self.shown.now())

    def _is_asked(self, round_id: str) -> bool:
        """Whether it is a user's round. Only such rounds have texts to withhold."""
        known: bool | None = self.asked.find(round_id)
        if known is None:
            known = is_asked(self.shown.store, round_id)
            self.asked.keep(round_id, known, 1)
        return known

    def _withholds(self, caller: Caller, round_id: str) -> bool:
        if caller.is_anyone or not self._is_asked(round_id):
            return True
        return not (caller.may("admin") or is_asker(self.shown.store, round_id, caller.name))


def measure_observation(observation: Observation) -> int:
    """Bytes, about: its numbers and its texts."""
    return sum(array.nbytes for array in observation.arrays.values()) + sum(map(len, observation.texts.values()))


def make_cached_reply(made: Any) -> CachedReply:
    """Whatever miners sent is ASCII afterwards, half characters too."""
    if isinstance(made, TableFile):
        return CachedReply(
            made.data,
            made.media_type,
            _make_etag(made.data),
            {
                "Content-Disposition": f'attachment; filename="{made.name}"',
                "X-Weighbeam-More": "true" if made.more else "false",
            },
        )
    body = made if isinstance(made, bytes) else json.dumps(made, allow_nan=False, default=to_jsonable).encode()
    return CachedReply(body, "image/png" if isinstance(made, bytes) else JSON, _make_etag(body))


def _make_etag(body: bytes) -> str:
    return f'"{hashlib.sha256(body).hexdigest()[:32]}"'


def to_jsonable(made: Any) -> Any:
    """A record or a mapping as JSON's own; `asdict` would copy all that is in it first.

    >>> json.dumps(CachedReply(b"", "a", "b"), default=lambda one: "" if isinstance(one, bytes) else to_jsonable(one))
    '{"body": "", "kind": "a", "etag": "b", "headers": {}}'
    """
    if is_dataclass(made) and not isinstance(made, type):
        return {field.name: getattr(made, field.name) for field in fields(made)}
    if isinstance(made, Mapping):
        return dict(made)
    raise TypeError(f"{type(made).__name__} is not part of an answer")


def respond(reply: ApiReply, request: Request) -> Response:
    """304 for who has it already."""
    kept = reply.content
    if not isinstance(kept, CachedReply):
        return reply.write()
    headers = {**SAFE, **kept.headers, "ETag": kept.etag}
    if matches_etag(request.headers.get("if-none-match", ""), kept.etag):
        return Response(None, 304, headers)
    return Response(kept.body, 200, headers, kept.kind)


def matches_etag(given: str, etag: str) -> bool:
    """Whether an If-None-Match names this answer.

    >>> matches_etag('W/"a", "b"', '"b"'), matches_etag("*", '"b"'), matches_etag("", '"b"')
    (True, True, False)
    """
    named = {one.strip().removeprefix("W/") for one in given.split(",")}
    return etag in named or "*" in named
