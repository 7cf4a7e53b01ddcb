"""Handlers of the novelty API, as blocking work."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.validation import validate_model
from weighbeam.mechanisms.novelty.desk.accounts import (
    count_all,
    select_contributor_balance,
    select_history,
    select_receipts,
)
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk
from weighbeam.mechanisms.novelty.desk.intake import RepeatedReceipt
from weighbeam.mechanisms.novelty.desk.settlement import settle_held, withdraw
from weighbeam.mechanisms.novelty.desk.submission import check_contributor
from weighbeam.mechanisms.novelty.service.shapes import HistoryQuery, NoveltySubmissionBody, TextToCheck
from weighbeam.network.strict_json import parse_strict
from weighbeam.service.api.bodies import parse_keyed_json
from weighbeam.service.http.callers import Caller

SIGNER: frozenset[str] = frozenset({"check", "submit", "read"})
NUMBER = re.compile(r"[0-9]+", re.ASCII)
MAX_DIGITS = 18
REFUSAL = "bad_contribution", "see the guide 'Pay for novelty over HTTP'"


@dataclass(frozen=True, slots=True)
class NoveltyApi:
    """The desk as callers see it. Who signs is a contributor itself and sees only its own."""

    desk: NoveltyDesk
    now: Callable[[], float]

    def submit(self, caller: Caller, body: bytes, header: str | None) -> tuple[int, Any]:
        """201 for what is new here, 200 for the receipt of an earlier call with the same key."""
        caller.check("submit")
        given = validate_model(NoveltySubmissionBody, parse_keyed_json(body, header, caller), *REFUSAL)
        contributor = check_contributor(choose_contributor(caller, given.contributor))
        receipt = self.desk.submit(contributor, given.text, given.key, scope=caller.name)
        return 200 if isinstance(receipt, RepeatedReceipt) else 201, receipt

    def check(self, caller: Caller, body: bytes) -> tuple[int, Any]:
        caller.check("check")
        text = validate_model(TextToCheck, parse_strict(body), *REFUSAL).text
        return 200, self.desk.check(text, caller.hotkey).as_json()

    def balance(self, caller: Caller, contributor: str) -> tuple[int, Any]:
        caller.check("read")
        return 200, select_contributor_balance(
            self.desk.store, check_contributor(choose_contributor(caller, contributor))
        )

    def receipts(self, caller: Caller, id: str) -> tuple[int, Any]:
        caller.check("read")
        number = parse_contribution_id(id)
        found = select_receipts(self.desk.store, number)
        if caller.hotkey is not None and found["receipt"]["contributor"] != caller.hotkey:
            raise unknown_contribution(id)
        return 200, found

    def history(self, caller: Caller, given: HistoryQuery) -> tuple[int, Any]:
        """Newest first; `next` is the `before` of the lines after these. Texts are for operators alone."""
        caller.check("read")
        contributor = choose_contributor(caller, given.contributor)
        if contributor is not None:
            check_contributor(contributor)
        lines = select_history(self.desk.store, contributor, given.status, given.before, given.limit)
        if not caller.may("operate"):
            lines = [{field: value for field, value in line.items() if field != "text"} for line in lines]
        return 200, {"contributions": lines, "next": lines[-1]["id"] if len(lines) == given.limit else None}

    def settle(self, caller: Caller, id: str, outcome: Literal["released", "rejected"]) -> tuple[int, Any]:
        caller.check("operate")
        return 200, settle_held(self.desk, parse_contribution_id(id), outcome, self.now())

    def withdraw(self, caller: Caller, id: str) -> tuple[int, Any]:
        caller.check("operate")
        number = parse_contribution_id(id)
        withdraw(self.desk, number)
        return 200, {"id": number, "withdrawn": True}

    def treasury(self, caller: Caller) -> tuple[int, Any]:
        caller.check("read")
        require(caller.hotkey is None, "missing_scope", "the treasury is visible to tokens only", "ask the operator")
        limits = self.desk.rules.limits
        limited = {"day_limit": limits.per_day, "contributor_day_limit": limits.per_contributor}
        return 200, {**count_all(self.desk.store), **limited, "base_units": self.desk.params.base_units}


def choose_contributor(caller: Caller, contributor: Any) -> Any:
    """Choose the contributor: a token may name one, a hotkey contributes for itself."""
    if caller.hotkey is None or contributor == caller.hotkey:
        return contributor
    told = "a signed call may contribute for its own hotkey only"
    require(contributor is None, "not_allowed", told, "leave the contributor out")
    return caller.hotkey


def parse_contribution_id(text: str) -> int:
    """The number of a contribution; one that no store can hold is unknown like any other."""
    require(NUMBER.fullmatch(text) is not None, "bad_query", "a contribution has a number as its id", "check the path")
    if len(text) > MAX_DIGITS:
        raise unknown_contribution(text)
    return int(text)


def unknown_contribution(id: str) -> WeighbeamError:
    """The same words whether it is not there or not the caller's."""
    told = f"no contribution has the number {id[:40]}"
    return WeighbeamError("unknown_contribution", told, "see weighbeam novelty history")
