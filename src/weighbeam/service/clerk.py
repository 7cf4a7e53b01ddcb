"""What callers of the organic API may do, each as blocking work; everybody sees their own requests, admins all."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.line_up import PRIORITIES, cancel_request, list_requests
from weighbeam.engine.organic import enqueue
from weighbeam.engine.progress import Progress, explain_result, read_progress, tell_row
from weighbeam.mechanisms.contract import Mechanism, Params
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.service.callers import Caller
from weighbeam.service.read_question import read_question, read_terms, try_question
from weighbeam.service.teller import read_number
from weighbeam.store.database import Store

NAME = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
NAMES = {number: name for name, number in PRIORITIES.items()}
MOST_LINES = 100


@dataclass(frozen=True, slots=True)
class Clerk:
    """Takes questions for the validator of the same store; `asked` are the mechanisms that ask miners."""

    store: Store
    asked: Mapping[str, tuple[Mechanism, Params]]
    now: Callable[[], float]

    def ask(
        self, caller: Caller, mechanism: str, body: bytes, header: str | None, fields: Collection[str] | None
    ) -> tuple[int, Any]:
        """202 with where it stands; the same key again is the same request."""
        caller.check("ask")
        question, options = read_question(body, fields)
        terms = read_terms(options, header, caller)
        asked, params = self.asked[mechanism]
        try_question(asked, params, question)
        return 202, self._tell(self.find(caller, enqueue(self.store, asked, params, question, self.now(), terms)))

    def look(self, caller: Caller, request_id: str) -> tuple[int, Any]:
        return 200, self.describe(self.find(caller, request_id))

    def list(self, caller: Caller, filters: Mapping[str, str]) -> tuple[int, Any]:
        """Newest first; `next` is the `before` of the lines after these."""
        caller.check("ask")
        most = read_number(filters.get("most", "20"), "most", 1, MOST_LINES)
        rows = list_requests(self.store, None if caller.may("admin") else caller.name, most, filters.get("before"))
        lines = [self._tell(tell_row(row)) for row in rows]
        for line in lines:
            del line["result"], line["position"]
        return 200, {"requests": lines, "next": lines[-1]["id"] if len(lines) == most else None}

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
        return read_progress(self.store, ids, self.now())

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
            "priority": NAMES[progress.priority],
            "ranked": progress.ranked,
            "result": None,
            "status_url": url,
            "events_url": f"{url}/events",
        }
