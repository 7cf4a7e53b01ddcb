"""Handlers of the request API, as blocking work; callers see their own requests, admins all."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.validation import validate_model
from weighbeam.engine.requests.organic import enqueue_request
from weighbeam.engine.requests.progress import Progress, explain_result, parse_progress, select_progress
from weighbeam.engine.requests.queue import PRIORITIES, RequestTerms, cancel_request, list_requests
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Task
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.service.api.bodies import parse_keyed_json
from weighbeam.service.api.request_shapes import QuestionOptions, RequestsQuery
from weighbeam.service.http.callers import Caller
from weighbeam.store.database import Store

MAX_INTEGER = 1 << 53


def parse_question(
    body: bytes, header: str | None, caller: Caller, model: type[QuestionOptions]
) -> tuple[dict[str, Any], QuestionOptions]:
    """The question and its options; `model` has the fields of both. The question stays as it was sent."""
    given = parse_keyed_json(body, header, caller)
    check_integers(given)
    options = validate_model(model, given, "bad_question", "see /openapi.json")
    own = QuestionOptions.model_fields
    return {name: value for name, value in given.items() if value is not None and name not in own}, options


def choose_terms(options: QuestionOptions, caller: Caller) -> RequestTerms:
    """On which terms; a priority above the caller's is lowered to it."""
    allowed = options.ranked is not False or caller.unranked
    require(
        allowed, "not_allowed", "this token may not ask unranked questions", "leave ranked out, or ask the operator"
    )
    return RequestTerms(
        tuple(dict.fromkeys(options.wanted or ())),
        not caller.unranked if options.ranked is None else options.ranked,
        min(PRIORITIES[options.priority or "normal"], caller.priority),
        caller.name,
        options.key,
    )


@contextmanager
def refuse_surprises(mechanism: str) -> Iterator[None]:
    """A question is refused whatever a mechanism makes of what it did not expect; the text is in no log."""
    try:
        yield
    except WeighbeamError:
        raise
    except Exception as fault:
        told = f"{mechanism} cannot ask this ({type(fault).__name__})"
        raise WeighbeamError("bad_question", told, "see /openapi.json") from None


def check_integers(value: Any) -> None:
    """Raise `malformed` for integers that some JSON readers cannot represent exactly."""
    level = [value]
    while level:
        item = level.pop()
        if isinstance(item, dict):
            level.extend(item.values())
        elif isinstance(item, list):
            level.extend(item)
        elif isinstance(item, int):
            require(abs(item) <= MAX_INTEGER, "malformed", "an integer beyond 2^53", "send a smaller one")


NAME = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
PRIORITY_NAMES = {number: name for name, number in PRIORITIES.items()}


@dataclass(frozen=True, slots=True)
class RequestApi:
    """Takes questions for the validator of the same store; `asked` are the mechanisms that ask miners."""

    store: Store
    asked: Mapping[str, tuple[Mechanism, Params]]
    now: Callable[[], float]

    def ask(
        self, caller: Caller, mechanism: str, body: bytes, header: str | None, model: type[QuestionOptions]
    ) -> tuple[int, Any]:
        """202 with where it stands; the same key again is the same request."""
        caller.check("ask")
        asked, params = self.asked[mechanism]
        with refuse_surprises(mechanism):
            question, options = parse_question(body, header, caller, model)
            terms = choose_terms(options, caller)
            asked.pose(params, Task("organic", question, "organic"))
        return 202, self._tell(
            self.find(caller, enqueue_request(self.store, asked, params, question, self.now(), terms))
        )

    def look(self, caller: Caller, request_id: str) -> tuple[int, Any]:
        return 200, self.describe(self.find(caller, request_id))

    def list(self, caller: Caller, given: RequestsQuery) -> tuple[int, Any]:
        """Newest first; `next` is the `before` of the lines after these."""
        caller.check("ask")
        rows = list_requests(self.store, None if caller.may("admin") else caller.name, given.limit, given.before)
        lines = [self._tell(parse_progress(row)) for row in rows]
        for line in lines:
            del line["result"], line["position"]
        return 200, {"requests": lines, "next": lines[-1]["id"] if len(lines) == given.limit else None}

    def cancel(self, caller: Caller, request_id: str) -> tuple[int, Any]:
        """Only what still waits."""
        self.find(caller, request_id)
        cancel_request(self.store, request_id)
        return self.look(caller, request_id)

    def find(self, caller: Caller, request_id: str) -> Progress:
        """Where it stands; the same words whether it is not there or not the caller's."""
        caller.check("ask")
        named = NAME.fullmatch(request_id) is not None
        found = self.watch([request_id]).get(request_id) if named else None
        if found is None or not (caller.may("admin") or found.caller == caller.name):
            raise WeighbeamError("unknown_request", "no request of yours has this id", "check the id")
        return found

    def watch(self, ids: Collection[str]) -> dict[str, Progress]:
        return select_progress(self.store, ids, self.now())

    def describe(self, progress: Progress) -> dict[str, Any]:
        """All there is to tell of it; of one that is done, how its score came about."""
        return {**self._tell(progress), "result": explain_result(self.store, progress, self._find_mechanism)}

    def _find_mechanism(self, name: str) -> Mechanism:
        """One that is run no more may still have been asked."""
        return self.asked[name][0] if name in self.asked else load_mechanism(name)

    def _tell(self, progress: Progress) -> dict[str, Any]:
        url = f"/v1/requests/{progress.id}"
        return {
            "id": progress.id,
            "mechanism": progress.mechanism,
            "state": progress.state,
            "position": progress.position,
            "round": progress.round,
            "at": progress.at,
            "caller": progress.caller,
            "priority": PRIORITY_NAMES[progress.priority],
            "ranked": progress.ranked,
            "result": None,
            "status_url": url,
            "events_url": f"{url}/events",
        }
