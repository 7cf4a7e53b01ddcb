"""How reading is answered: who may, what was asked for, made once per state of the store, with an ETag."""

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from fastapi import Request, Response

from weighbeam.engine.insight.miner import MinerView, read_miner
from weighbeam.engine.reading.round_view import is_asked, is_asker
from weighbeam.engine.reading.rounds import is_settled
from weighbeam.engine.weigh_in.constants import Averaging
from weighbeam.engine.what_if import WhatIf, recall_round
from weighbeam.mechanisms.contract import Mechanism, Observation, Params
from weighbeam.network.keys import Hotkey
from weighbeam.service.callers import Caller
from weighbeam.service.fresh import Fresh
from weighbeam.service.front import SEALED, Front
from weighbeam.service.lasting import Lasting
from weighbeam.service.query import Given, read_given
from weighbeam.store.artifacts import Artifacts
from weighbeam.store.database import Store

JSON = "application/json"
MOST_RECALLED, LARGEST_RECALLED = 48 << 20, 8 << 20
MOST_ASKED = 100_000
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
SAFE = {**SEALED, "Cache-Control": "private, no-cache", "Vary": "Authorization"}


@dataclass(frozen=True, slots=True)
class Kept:
    """An answer as it is sent."""

    body: bytes
    kind: str
    etag: str

    @property
    def size(self) -> int:
        return len(self.body)


@dataclass(frozen=True, slots=True)
class Shown:
    """What is read from, and what is told besides the store: the settings with no secret, and how the process is."""

    store: Store
    mechanisms: Mapping[str, tuple[Mechanism, Params]]
    averaging: Averaging
    artifacts: Artifacts
    hotkey: Hotkey
    now: Callable[[], float]
    settings: Callable[[], list[dict[str, Any]]]
    health: Callable[[], tuple[int, dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Reader:
    """Answers GETs through a gate, out of what is kept."""

    front: Front
    shown: Shown
    fresh: Fresh
    recalled: Lasting = field(default_factory=lambda: Lasting(MOST_RECALLED, LARGEST_RECALLED))
    asked: Lasting = field(default_factory=lambda: Lasting(MOST_ASKED, 1))

    async def answer(
        self,
        request: Request,
        read: Callable[[Given], Any],
        names: tuple[str, ...] = (),
        scope: str = "read",
        round_id: str | None = None,
        seconds: float | None = None,
        settled: str | None = None,
    ) -> Response:
        """What `read` gives, as JSON, or as it is if it is bytes of a picture.

        Of a round, users' texts are told to admins and to whoever asked. What depends on the time is made again after
        so many `seconds`; what `settled` names is a round of which nothing private is told.
        """

        def name(given: Given) -> tuple[Hashable, ...]:
            turn = None if seconds is None else self.shown.now() // seconds
            return request.scope["path"], *sorted(given.filters.items()), given.withhold, turn

        def work(caller: Caller, _: bytes) -> tuple[int, Any]:
            caller.check(scope)
            given = read_given(request, names, self._withholds(caller, round_id))
            return 200, self.fresh.get(name(given), lambda: keep(read(given)), self.settles(round_id or settled))

        def recall(caller: Caller, crowded: bool) -> tuple[int, Any] | None:
            if round_id is not None and not caller.is_anyone and self.asked.find(round_id) is not False:
                return None
            caller.check(scope)
            return self.fresh.recall(name(read_given(request, names)), crowded)

        reply = await self.front.handle(request, work, recall)
        return write_kept(reply.content, request) if isinstance(reply.content, Kept) else reply.write()

    def recall_round(self, round_id: str) -> WhatIf:
        """A round scored again, kept for a while for all that is told of it."""
        found: WhatIf | None = self.recalled.find(round_id)
        if found is None:
            found = recall_round(self.shown.store, round_id)
            if is_settled(self.shown.store, round_id, self.shown.now()):
                self.recalled.keep(round_id, found, measure_observation(found.observation))
        return found

    def read_miner(self, mechanism: Mechanism, hotkey: str) -> MinerView:
        """The same for the API and for its page."""
        shown = self.shown
        return self.fresh.get(
            ("miner", mechanism.name, hotkey), lambda: read_miner(shown.store, mechanism, hotkey, shown.averaging)
        )

    def settles(self, round_id: str | None) -> Callable[[], bool] | None:
        """Whether what is told of a round will still be so later."""
        return None if round_id is None else lambda: is_settled(self.shown.store, round_id, self.shown.now())

    def _is_asked(self, round_id: str) -> bool:
        """Whether it is a user's round. Where it is not there is nothing to withhold, and all are told the same."""
        known: bool | None = self.asked.find(round_id)
        if known is None:
            known = is_asked(self.shown.store, round_id)
            self.asked.keep(round_id, known, 1)
        return known

    def _withholds(self, caller: Caller, round_id: str | None) -> bool:
        if round_id is None or caller.is_anyone or not self._is_asked(round_id):
            return True
        return not (caller.may("admin") or is_asker(self.shown.store, round_id, caller.name))


def measure_observation(observation: Observation) -> int:
    """Bytes, about: its numbers and its texts."""
    return sum(array.nbytes for array in observation.arrays.values()) + sum(map(len, observation.texts.values()))


def keep(made: Any) -> Kept:
    """Whatever miners sent is ASCII afterwards, half characters too."""
    body = made if isinstance(made, bytes) else json.dumps(made, allow_nan=False, default=spell).encode()
    return Kept(body, "image/png" if isinstance(made, bytes) else JSON, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


def spell(made: Any) -> Any:
    """A record or a mapping as JSON's own; `asdict` would copy all that is in it first.

    >>> json.dumps(Kept(b"", "a", "b"), default=lambda one: "" if isinstance(one, bytes) else spell(one))
    '{"body": "", "kind": "a", "etag": "b"}'
    """
    if is_dataclass(made) and not isinstance(made, type):
        return {field.name: getattr(made, field.name) for field in fields(made)}
    if isinstance(made, Mapping):
        return dict(made)
    raise TypeError(f"{type(made).__name__} is no part of an answer")


def write_kept(kept: Kept, request: Request) -> Response:
    """304 for who has it already."""
    headers = {**SAFE, "ETag": kept.etag}
    if knows(request.headers.get("if-none-match", ""), kept.etag):
        return Response(None, 304, headers)
    return Response(kept.body, 200, headers, kept.kind)


def knows(given: str, etag: str) -> bool:
    """Whether an If-None-Match names this answer.

    >>> knows('W/"a", "b"', '"b"'), knows("*", '"b"'), knows("", '"b"')
    (True, True, False)
    """
    named = {one.strip().removeprefix("W/") for one in given.split(",")}
    return etag in named or "*" in named
