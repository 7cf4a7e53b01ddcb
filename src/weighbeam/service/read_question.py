"""The body of an organic request: the question of a mechanism, and on which terms it is asked."""

from collections.abc import Collection
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.line_up import PRIORITIES, Terms
from weighbeam.mechanisms.contract import Mechanism, Params, Task
from weighbeam.network.keys import is_address
from weighbeam.network.strict_json import read_strict
from weighbeam.novelty.records import check_key
from weighbeam.service.callers import Caller
from weighbeam.service.teller import choose_key

OPTIONS = ("wanted", "ranked", "priority", "key")
MOST_WANTED = 16
MOST_INTEGER = 1 << 53


def read_question(body: bytes, fields: Collection[str] | None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The question and the options of a body; of a mechanism whose `fields` are known, no others are taken."""
    given = read_strict(body)
    if not isinstance(given, dict):
        raise WeighbeamError("bad_question", "the body is no object", "see /openapi.json")
    check_integers(given)
    options = {name: given.pop(name) for name in OPTIONS if name in given}
    unknown = sorted(set(given) - set(given if fields is None else fields))
    require(not unknown, "bad_question", f"unknown fields: {', '.join(unknown)[:100]!a}", "see /openapi.json")
    return {name: value for name, value in given.items() if value is not None}, options


def read_terms(options: dict[str, Any], header: str | None, caller: Caller) -> Terms:
    """On which terms; a priority above the caller's is lowered to it."""
    key = choose_key(options.get("key"), header, caller)
    wanted, ranked, priority = (options.get(name) for name in ("wanted", "ranked", "priority"))
    named = wanted is None or (isinstance(wanted, list) and len(wanted) <= MOST_WANTED and all(map(_is_name, wanted)))
    require(named, "bad_terms", "wanted is no list of hotkeys", f"give at most {MOST_WANTED} ss58 addresses")
    sound = ranked is None or isinstance(ranked, bool)
    require(sound, "bad_terms", "ranked is neither true nor false", "leave it out")
    known = priority is None or (isinstance(priority, str) and priority in PRIORITIES)
    require(known, "bad_terms", "there is no such priority", f"give one of {', '.join(PRIORITIES)}")
    allowed = ranked is not False or caller.unranked
    require(allowed, "not_allowed", "this token may not ask unranked", "leave ranked out, or ask the operator")
    return Terms(
        tuple(dict.fromkeys(wanted or ())),
        not caller.unranked if ranked is None else ranked,
        min(PRIORITIES[priority or "normal"], caller.priority),
        caller.name,
        None if key is None else check_key(key),
    )


def try_question(mechanism: Mechanism, params: Params, question: dict[str, Any]) -> None:
    """Refused if it cannot be asked, whatever a mechanism makes of what it did not expect; the text is in no log."""
    try:
        mechanism.pose(params, Task("organic", question, "organic"))
    except WeighbeamError:
        raise
    except Exception as fault:
        told = f"{mechanism.name} cannot ask this ({type(fault).__name__})"
        raise WeighbeamError("bad_question", told, "see /openapi.json") from None


def check_integers(value: Any) -> None:
    """`malformed` if one is not told apart from its neighbours by every reader of JSON."""
    level = [value]
    while level:
        item = level.pop()
        if isinstance(item, dict):
            level.extend(item.values())
        elif isinstance(item, list):
            level.extend(item)
        elif isinstance(item, int):
            require(abs(item) <= MOST_INTEGER, "malformed", "an integer beyond 2^53", "send a smaller one")


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and is_address(value)
