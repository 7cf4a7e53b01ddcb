"""Mechanisms by name, found through the entry point group `weighbeam.mechanisms`.

A package that breaks the contract gets one error with a remedy, when it is loaded by name; it never keeps the other
mechanisms from loading.
"""

import logging
from collections import defaultdict
from collections.abc import Collection, Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import BaseModel

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanism.base import CONTRACT, Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.mechanism.records import Measure, WeighRule

LOG = logging.getLogger("weighbeam")
GROUP = "weighbeam.mechanisms"
OWN = "weighbeam"
"""The package whose mechanisms keep their names if another package claims them too."""
UNUSABLE = frozenset({"broken_mechanism", "bad_mechanism", "missing_verb", "old_contract", "duplicate_mechanism"})
"""The errors of a package that is installed and cannot be used."""
GUIDE = "see docs/write-a-mechanism.md"
WRITTEN = (("task", "generate_task"), ("measure", "observe"), ("grade", "score"))
"""The methods without a default, each with the verb that calls it."""


def list_mechanisms() -> dict[str, EntryPoint]:
    """Entry points by mechanism name, without the names that two packages claim."""
    return {name: found[0] for name, found in _list_claims().items() if len(found) == 1}


def list_names() -> set[str]:
    """Every name that an installed package claims, whether it loads or not."""
    return set(_list_entries())


@cache
def load_mechanism(name: str) -> Mechanism:
    """The mechanism called `name`."""
    claims = _list_claims()
    if name not in claims:
        raise WeighbeamError(
            "unknown_mechanism", f"no mechanism is called {name!r}", f"use one of: {', '.join(sorted(claims))}"
        )
    entry, *others = claims[name]
    if others:
        raise _describe_taken(name, claims[name])
    package = entry.dist.name if entry.dist else entry.value.split(".")[0]
    try:
        kind = entry.load()
    except (Exception, SystemExit) as fault:
        message = f"{name!r} does not load: {type(fault).__name__}: {fault}"
        raise WeighbeamError("broken_mechanism", message, f"upgrade or reinstall {package}") from fault
    return make_mechanism(kind, name, package)


def load_usable(names: Collection[str]) -> tuple[dict[str, Mechanism], dict[str, WeighbeamError]]:
    """Those of `names` that load, and why the others do not; a name that no package claims is an error."""
    usable: dict[str, Mechanism] = {}
    broken: dict[str, WeighbeamError] = {}
    for name in names:
        try:
            usable[name] = load_mechanism(name)
        except WeighbeamError as fault:
            if fault.code not in UNUSABLE:
                raise
            broken[name] = fault
    return usable, broken


def load_mechanisms() -> dict[str, Mechanism]:
    """Every mechanism that loads; the others are skipped with a warning."""
    usable, broken = load_usable(sorted(_list_claims()))
    for name, fault in broken.items():
        warn_once(name, str(fault))
    return usable


def call_hook(hook: str) -> dict[str, Any]:
    """The result of one method of every mechanism, by name; one that raises is skipped with a warning."""
    found: dict[str, Any] = {}
    for name, mechanism in load_mechanisms().items():
        try:
            found[name] = getattr(mechanism, hook)()
        except Exception as fault:
            warn_once(name, f"{hook} raised {type(fault).__name__}: {fault}")
    return found


@cache
def warn_once(name: str, fault: str) -> None:
    LOG.warning("mechanism %s is skipped: %s", name, fault)


def list_broken() -> dict[str, WeighbeamError]:
    """Why installed mechanisms do not load, by name; also those whose name weighbeam keeps for its own."""
    ours = {name: _describe_taken(name, found) for name, found in _list_entries().items() if len(found) > 1}
    return ours | load_usable(sorted(_list_claims()))[1]


def make_mechanism(kind: Any, name: str, package: str) -> Mechanism:
    """An instance of a mechanism class that keeps the form of the contract; otherwise one error says what to change.

    What it computes is not tried: `check_mechanism` does that.
    """
    remedy = f"upgrade {package}, or port it: {GUIDE}"
    if not (isinstance(kind, type) and issubclass(kind, Mechanism)):
        raise WeighbeamError("old_contract", f"{name!r} is not a subclass of weighbeam.Mechanism", remedy)
    try:
        made = kind()
        check_form(made, name)
    except WeighbeamError as fault:
        raise WeighbeamError(fault.code, fault.message, f"fix {package}: {fault.remedy}") from None
    except Exception as fault:
        message = f"{name!r} cannot be made: {type(fault).__name__}: {fault}"
        raise WeighbeamError("broken_mechanism", message, f"fix the class in {package}: {GUIDE}") from fault
    return made


def check_form(mechanism: Mechanism, name: str | None = None) -> None:
    """Refuse another contract, missing methods, and attributes of a wrong type; all that are wrong are named."""
    kind, label = type(mechanism), name or getattr(mechanism, "name", type(mechanism).__name__)
    if kind.contract != CONTRACT:
        message = f"{label!r} is written for contract {kind.contract!r}, this weighbeam has contract {CONTRACT}"
        raise WeighbeamError("old_contract", message, f"port it: {GUIDE}")
    missing = _list_missing(kind)
    if missing:
        message = f"{label!r} does not define {' and '.join(missing)}"
        raise WeighbeamError("missing_verb", message, f"write {' and '.join(missing)}: {GUIDE}")
    wrong = _list_faults(mechanism, name)
    if wrong:
        raise WeighbeamError("bad_mechanism", f"{label!r}: {'; '.join(wrong)}", f"change these attributes: {GUIDE}")


def _list_entries() -> dict[str, list[EntryPoint]]:
    """Every different claim to each name."""
    found: dict[str, list[EntryPoint]] = defaultdict(list)
    for entry in entry_points(group=GROUP):
        if entry.value not in [other.value for other in found[entry.name]]:
            found[entry.name].append(entry)
    return found


def _list_claims() -> dict[str, list[EntryPoint]]:
    """The claims that count: nobody takes a name from weighbeam's own mechanisms."""
    claims = {}
    for name, found in _list_entries().items():
        own = [entry for entry in found if entry.module.split(".")[0] == OWN]
        claims[name] = own or found
    return claims


def _describe_taken(name: str, found: Collection[EntryPoint]) -> WeighbeamError:
    claims = " and ".join(sorted(entry.value for entry in found))
    return WeighbeamError("duplicate_mechanism", f"{name!r} is claimed by {claims}", "uninstall or rename one of them")


def _list_missing(kind: type[Mechanism]) -> list[str]:
    """The methods to write, unless the verb that calls them is overridden."""
    written = [pair for pair in WRITTEN if pair[0] != "task" or kind.kind == "asked"]
    return [
        method
        for method, verb in written
        if getattr(kind, method) is getattr(Mechanism, method) and getattr(kind, verb) is getattr(Mechanism, verb)
    ]


def _list_faults(made: Mechanism, name: str | None) -> list[str]:
    """The attributes of a mechanism that have a wrong type or value, each in words."""
    called = getattr(made, "name", None)
    checks = {
        "name must be a string": isinstance(called, str) and bool(called),
        f"name is {called!r}, its entry point says {name!r}": name is None or called == name,
        'kind must be "asked" or "collected"': made.kind in ("asked", "collected"),
        'better must be "lower" or "higher"': made.better in ("lower", "higher"),
        "params_type must be a subclass of weighbeam.Params": _is_subclass(made.params_type, Params),
        "reply_type must be a pydantic model or None": _is_subclass(made.reply_type, BaseModel, optional=True),
        "question_model must be a pydantic model or None": _is_subclass(made.question_model, BaseModel, optional=True),
        "rule must be a WeighRule": isinstance(made.rule, WeighRule),
        "version_key must be an integer or None": made.version_key is None or _is_count(made.version_key),
        "example must be a mapping with task and answers": _is_example(made.example),
        'uses must be a tuple of "embedder" and "entailment"': _is_tuple_of(made.uses, ("embedder", "entailment")),
        "meanings must map strings to strings": _is_mapping(made.meanings, str),
        "suspicious must map strings to strings": _is_mapping(made.suspicious, str),
        "measures must map names to Measure": _is_mapping(made.measures, Measure),
        "max_request_bytes must be a positive integer": _is_count(made.max_request_bytes, 1),
        "max_reply_bytes must be a positive integer": _is_count(made.max_reply_bytes, 1),
    }
    verbs = [verb for verb, default in vars(Mechanism).items() if callable(default) and not verb.startswith("_")]
    checks |= {f"{verb} must be a method": callable(getattr(made, verb)) for verb in verbs}
    return [fault for fault, holds in checks.items() if not holds]


def _is_subclass(value: Any, parent: type, optional: bool = False) -> bool:
    return (optional and value is None) or (isinstance(value, type) and issubclass(value, parent))


def _is_count(value: Any, least: int = 0) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _is_mapping(value: Any, of: type) -> bool:
    return isinstance(value, Mapping) and all(isinstance(k, str) and isinstance(v, of) for k, v in value.items())


def _is_tuple_of(value: Any, known: Collection[str]) -> bool:
    return isinstance(value, tuple) and set(value) <= set(known)


def _is_example(value: Any) -> bool:
    if isinstance(value, Mapping) and not value:
        return True
    task, answers = (value.get("task"), value.get("answers")) if isinstance(value, Mapping) else (None, None)
    return isinstance(task, Mapping) and isinstance(answers, list | tuple) and bool(answers)
