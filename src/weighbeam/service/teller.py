"""What callers of the novelty API may do, each as blocking work: who it is, what it wants, what it gets."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network.strict_json import read_strict
from weighbeam.novelty.desk import Desk
from weighbeam.novelty.operate import settle_held, withdraw
from weighbeam.novelty.read import count_all, find_balance, find_receipts, list_history
from weighbeam.novelty.records import check_contributor
from weighbeam.novelty.take_in import Repeat
from weighbeam.service.callers import Caller

SIGNER: frozenset[str] = frozenset({"check", "submit", "read"})
STATUSES = ("paid", "held", "duplicate", "imported", "released", "rejected")
FILTERS = ("contributor", "status", "before", "most")
MOST_LINES = 100
NUMBER = re.compile(r"[0-9]+", re.ASCII)
MOST_DIGITS = 18


@dataclass(frozen=True, slots=True)
class Teller:
    """The desk as callers see it. Who signs is a contributor itself and sees only its own."""

    desk: Desk
    now: Callable[[], float]

    def submit(self, caller: Caller, body: bytes, header: str | None) -> tuple[int, Any]:
        """201 for what is new here, 200 for the receipt of an earlier call with the same key."""
        caller.check("submit")
        given = read_fields(body, ("contributor", "text", "key"), ("text",))
        key = choose_key(given.get("key"), header, caller)
        contributor = check_contributor(choose_contributor(caller, given.get("contributor")))
        receipt = self.desk.submit(contributor, given["text"], key, scope=caller.name)
        return 200 if isinstance(receipt, Repeat) else 201, receipt

    def check(self, caller: Caller, body: bytes) -> tuple[int, Any]:
        caller.check("check")
        return 200, self.desk.check(read_fields(body, ("text",), ("text",))["text"]).as_json()

    def balance(self, caller: Caller, contributor: str) -> tuple[int, Any]:
        caller.check("read")
        return 200, find_balance(self.desk.store, check_contributor(choose_contributor(caller, contributor)))

    def receipts(self, caller: Caller, id: str) -> tuple[int, Any]:
        caller.check("read")
        number = read_id(id)
        found = find_receipts(self.desk.store, number)
        if caller.hotkey is not None and found["receipt"]["contributor"] != caller.hotkey:
            raise unknown(id)
        return 200, found

    def history(self, caller: Caller, filters: Mapping[str, str]) -> tuple[int, Any]:
        """Newest first; `next` is the `before` of the lines after these. Texts are for operators alone."""
        caller.check("read")
        most = read_number(filters.get("most", "20"), "most", 1, MOST_LINES)
        before = read_number(filters["before"], "before", 1, 10**MOST_DIGITS) if "before" in filters else None
        status = filters.get("status")
        require(status is None or status in STATUSES, "bad_query", "there is no such status", " ".join(STATUSES))
        contributor = choose_contributor(caller, filters.get("contributor"))
        if contributor is not None:
            check_contributor(contributor)
        lines = list_history(self.desk.store, contributor, status, before, most)
        if not caller.may("operate"):
            lines = [{field: value for field, value in line.items() if field != "text"} for line in lines]
        return 200, {"contributions": lines, "next": lines[-1]["id"] if len(lines) == most else None}

    def settle(self, caller: Caller, id: str, outcome: Literal["released", "rejected"]) -> tuple[int, Any]:
        caller.check("operate")
        return 200, settle_held(self.desk, read_id(id), outcome, self.now())

    def withdraw(self, caller: Caller, id: str) -> tuple[int, Any]:
        caller.check("operate")
        number = read_id(id)
        withdraw(self.desk, number)
        return 200, {"id": number, "withdrawn": True}

    def treasury(self, caller: Caller) -> tuple[int, Any]:
        caller.check("read")
        require(caller.hotkey is None, "missing_scope", "the treasury is shown to tokens alone", "ask the operator")
        limits = self.desk.rules.limits
        limited = {"day_limit": limits.per_day, "contributor_day_limit": limits.per_contributor}
        return 200, {**count_all(self.desk.store), **limited, "base_units": self.desk.params.base_units}


def choose_contributor(caller: Caller, contributor: Any) -> Any:
    """Whose it is: what a token says, but a hotkey's is its own."""
    if caller.hotkey is None or contributor == caller.hotkey:
        return contributor
    told = "who signs may speak for its own hotkey alone"
    require(contributor is None, "not_allowed", told, "leave the contributor out")
    return caller.hotkey


def read_fields(body: bytes, allowed: Collection[str], needed: Collection[str]) -> dict[str, Any]:
    """The object a body is, with fields that are known."""
    given = read_strict(body)
    sound = isinstance(given, dict) and set(needed) <= set(given) <= set(allowed)
    require(sound, "bad_contribution", f"the body is no object of {', '.join(allowed)}", "see docs/novelty-api.md")
    return dict(given)


def choose_key(given: Any, header: str | None, caller: Caller) -> Any:
    """The idempotency key, of the body or the header; a header is not signed, so signed calls may not use it."""
    if header is None:
        return given
    require(caller.hotkey is None, "bad_key", "the header Idempotency-Key is not signed", "put key into the body")
    require(given in (None, header), "bad_key", "body and header name different keys", "give one of them")
    return header


def read_id(text: str) -> int:
    """The number of a contribution; one that no store can hold is unknown like any other."""
    require(NUMBER.fullmatch(text) is not None, "bad_query", "a contribution is known by a number", "check the path")
    if len(text) > MOST_DIGITS:
        raise unknown(text)
    return int(text)


def read_number(text: str, name: str, least: int, most: int) -> int:
    sound = NUMBER.fullmatch(text) is not None and len(text) <= MOST_DIGITS + 1 and least <= int(text) <= most
    require(sound, "bad_query", f"{name} is no number from {least} to {most}", "correct it")
    return int(text)


def unknown(id: str) -> WeighbeamError:
    """The same words whether it is not there or not the caller's."""
    told = f"no contribution has the number {id[:40]}"
    return WeighbeamError("unknown_contribution", told, "see weighbeam novelty history")
