"""Mechanisms by name, found through the entry point group `weighbeam.mechanisms`.

A package that breaks the contract gets one error with a remedy, when it is loaded by name; it never keeps the other
mechanisms from loading.
"""

import inspect
import logging
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import fields
from functools import cache, lru_cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.extras import explain_missing
from weighbeam.mechanism.base import CONTRACT, Mechanism
from weighbeam.mechanism.page import MechanismPage
from weighbeam.mechanism.params import Params, ReadBy, describe_params_fault
from weighbeam.mechanism.records import Measure, WeighRule
from weighbeam.mechanism.untrusted import describe_exception

LOG = logging.getLogger("weighbeam")
GROUP = "weighbeam.mechanisms"
OWN = "weighbeam"
"""The package whose mechanisms keep their names if another package claims them too."""
UNUSABLE = frozenset({"broken_mechanism", "bad_mechanism", "missing_verb", "old_contract", "duplicate_mechanism"})
"""The errors of a package that is installed and cannot be used."""
GUIDE = "the guide 'Write a mechanism'"
WRITTEN = {"task": "generate_task", "measure": "observe", "grade": "score"}
"""The methods without a default, each with the verb that calls it."""
SCORING = ("measure", "grade")
"""Those that scoring a question needs."""


def list_mechanisms() -> dict[str, EntryPoint]:
    """Entry points by mechanism name, without the names that two packages claim."""
    return {name: found[0] for name, found in _list_claims().items() if len(found) == 1}


def list_names() -> set[str]:
    """Every name that an installed package claims, whether it loads or not."""
    return set(_list_entries())


def load_mechanism(name: str) -> Mechanism:
    """The mechanism called `name`."""
    if not isinstance(name, str):
        known = ", ".join(sorted(_list_claims()))
        message = f"the name of a mechanism is a string, not {type(name).__name__}"
        raise WeighbeamError("unknown_mechanism", message, f"use one of: {known}")
    return load_cached(name)


@cache
def load_cached(name: str) -> Mechanism:
    """`load_mechanism` of a string; a mechanism is made once in a process."""
    claims = _list_claims()
    if name not in claims:
        raise WeighbeamError(
            "unknown_mechanism", f"no mechanism is called {name!r}", f"use one of: {', '.join(sorted(claims))}"
        )
    entry, *others = claims[name]
    if others:
        raise _describe_taken(name, claims[name])
    package = _name_package(entry)
    try:
        kind = entry.load()
    except (Exception, SystemExit) as fault:
        missing = explain_missing(fault)
        if missing is not None:
            raise missing from fault
        message = f"{name!r} does not load: {describe_exception(fault)}"
        remedy = f"upgrade or reinstall {package}"
        if isinstance(fault, SyntaxError) and fault.filename:
            remedy = f"fix {fault.filename}, or {remedy}"
        raise WeighbeamError("broken_mechanism", message, remedy) from fault
    return make_mechanism(kind, name, package)


def accept_mechanism(given: object, needed: Collection[str] = tuple(WRITTEN)) -> Mechanism:
    """A mechanism by name, class or object; one that breaks the form of the contract is refused.

    Of the methods that have no default, it must have those in `needed`.
    """
    if isinstance(given, str):
        return load_mechanism(given)
    kind = given if isinstance(given, type) else type(given)
    if not (issubclass(kind, Mechanism) or isinstance(given, type) or hasattr(given, "score")):
        message = f"a {kind.__name__} is not a mechanism"
        raise WeighbeamError("unknown_mechanism", message, "give a name, or a subclass of weighbeam.Mechanism")
    _check_subclass(kind, kind.__name__, f"make {kind.__name__} a subclass of weighbeam.Mechanism ({GUIDE})")
    made: Any = _make(kind, kind.__name__, kind.__name__) if isinstance(given, type) else given
    check_form(made, where=kind.__name__, needed=needed)
    assert isinstance(made, Mechanism)
    return made


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
    """The result of one method of every mechanism, by name; a bad one is skipped with a warning."""
    wanted, is_good = HOOKS[hook]
    entries = list_mechanisms()
    found: dict[str, Any] = {}
    for name, mechanism in load_mechanisms().items():
        try:
            result = getattr(mechanism, hook)()
            fault = None if is_good(result) else f"{hook} must return {wanted}"
        except (Exception, SystemExit) as raised:
            fault = f"{hook} raised {describe_exception(raised)}"
        if fault is None:
            found[name] = result
        else:
            remedy = f"fix `{hook}` in {_name_package(entries[name])} ({GUIDE})"
            warn_once(name, str(WeighbeamError("bad_mechanism", fault, remedy)))
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
    _check_subclass(kind, name, f"upgrade {package}, or port it ({GUIDE})")
    made = _make(kind, name, package)
    check_form(made, name, package)
    return made


def _check_subclass(kind: Any, name: str, remedy: str) -> None:
    if not (isinstance(kind, type) and issubclass(kind, Mechanism)):
        raise WeighbeamError("old_contract", f"{name!r} is not a subclass of weighbeam.Mechanism", remedy)


def _make(kind: type[Mechanism], name: str, where: str) -> Mechanism:
    try:
        return kind()
    except (Exception, SystemExit) as fault:
        message = f"{name!r} cannot be made: {describe_exception(fault)}"
        raise WeighbeamError("broken_mechanism", message, f"fix the class in {where} ({GUIDE})") from fault


def check_form(
    mechanism: Mechanism,
    name: str | None = None,
    where: str | None = None,
    needed: Collection[str] = tuple(WRITTEN),
) -> None:
    """Refuse another contract, missing methods, and attributes of a wrong type; all that are wrong are named.

    `name` is the one of its entry point, `where` the package to change, `needed` the methods it must have.
    """
    kind, label = type(mechanism), name or getattr(mechanism, "name", type(mechanism).__name__)
    place = where or kind.__name__
    if kind.contract != CONTRACT:
        message = f"{label!r} is written for contract {kind.contract!r}, this weighbeam has contract {CONTRACT}"
        raise WeighbeamError("old_contract", message, f"upgrade {place}, or port it ({GUIDE})")
    missing = [method for method in _list_missing(kind) if method in needed]
    if missing:
        message = f"{label!r} does not define {' and '.join(missing)}"
        quoted = " and ".join(f"`{method}`" for method in missing)
        raise WeighbeamError("missing_verb", message, f"write {quoted} in {place} ({GUIDE})")
    wrong = _list_faults(mechanism, name)
    if wrong:
        remedy = f"change these attributes in {place} ({GUIDE})"
        raise WeighbeamError("bad_mechanism", f"{label!r}: {'; '.join(wrong)}", remedy)


def _name_package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value.split(".")[0]


def _list_entries() -> dict[str, list[EntryPoint]]:
    """Every different claim to each name."""
    found: dict[str, list[EntryPoint]] = defaultdict(list)
    for entry in _find_entries(_stamp_path()):
        if entry.value not in [other.value for other in found[entry.name]]:
            found[entry.name].append(entry)
    return found


@lru_cache(maxsize=1)
def _find_entries(_: object) -> tuple[EntryPoint, ...]:
    """Listing them reads a file of each package installed, so it is done again only after one has come or gone."""
    return tuple(entry_points(group=GROUP))


def _stamp_path() -> tuple[tuple[str, int | None], ...]:
    """Where packages are, and when each place has changed last."""
    return tuple((place, _read_time(place)) for place in sys.path)


def _read_time(place: str) -> int | None:
    try:
        return Path(place or ".").stat().st_mtime_ns
    except OSError:
        return None


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
    return [
        method
        for method, verb in WRITTEN.items()
        if method != "task" or kind.kind == "asked"
        if not _overrides(kind, method) and not _overrides(kind, verb)
    ]


def _list_faults(made: Mechanism, name: str | None) -> list[str]:
    """The attributes of a mechanism that have a wrong type or value, each in words."""
    kind, called = type(made), getattr(made, "name", None)
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
        "max_request_nodes must be a positive integer": _is_count(made.max_request_nodes, 1),
        "max_reply_bytes must be a positive integer": _is_count(made.max_reply_bytes, 1),
        "page must be a Mechanism.MechanismPage whose fields have the types it declares": _is_page(made.page),
        "served_alone must be true or false": isinstance(made.served_alone, bool),
        "reads_pages must be true or false": isinstance(made.reads_pages, bool),
        "about must be a string": isinstance(_read(made, "about"), str),
        "read_by must map parameters to Params.read_by(…)": _is_mapping(_read(made, "read_by"), ReadBy),
        "burns cannot be set: override burn_share or weigh_burning": kind.burns is Mechanism.burns,
        "narrates cannot be set: override draw or tell": kind.narrates is Mechanism.narrates,
        'kind is "collected", so override collector': made.kind != "collected" or _overrides(kind, "collector"),
    }
    checks |= {f"{verb} must be a method": callable(getattr(made, verb)) for verb in _list_verbs()}
    wrong = [fault for fault, holds in checks.items() if not holds]
    return [*wrong, *_list_default_faults(made.params_type)]


def _list_verbs() -> list[str]:
    return [verb for verb, default in vars(Mechanism).items() if inspect.isfunction(default) and verb[0] != "_"]


def _list_default_faults(kind: Any) -> list[str]:
    """Why parameters cannot be made without arguments; every mechanism runs without any setting."""
    if not _is_subclass(kind, Params):
        return []
    try:
        kind()
    except (Exception, SystemExit) as fault:
        return [f"params_type: {describe_params_fault(fault)}"]
    return []


def _overrides(kind: type[Mechanism], method: str) -> bool:
    return getattr(kind, method) is not getattr(Mechanism, method)


def _read(made: Mechanism, name: str) -> Any:
    """An attribute that may be a property of the author's; the exception if it raises one."""
    try:
        return getattr(made, name)
    except (Exception, SystemExit) as fault:
        return fault


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


def _is_page(value: Any) -> bool:
    if not isinstance(value, MechanismPage):
        return False
    shown = {field.name: getattr(value, field.name) for field in fields(value)}
    maps = [shown.pop("task_fields"), shown.pop("app_pages"), shown.pop("parts") or {}]
    numbers = [shown.pop("decimals"), shown.pop("table_width")]
    hooks = ("figures", "cuts", "texts", "quotes", "answer_pictures", "board_pictures")
    views = [view for name in hooks if (view := shown.pop(name)) is not None]
    texts = all(isinstance(text, str) for text in shown.values())
    good = texts and all(map(callable, views)) and all(map(_is_count, numbers))
    return good and all(_is_mapping(one, str) for one in maps)


def _is_stages(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(k, str) and callable(v) for k, v in value.items())


def _is_attacks(value: Any) -> bool:
    """Check attacks by their attributes, because the contract does not import the lab."""
    texts = ("name", "family", "mechanism", "what", "against", "open")
    return isinstance(value, Sequence) and all(
        callable(getattr(one, "run", None)) and all(isinstance(getattr(one, text, None), str) for text in texts)
        for one in value
    )


def _is_options(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)


HOOKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "stages": ("a mapping of names to functions", _is_stages),
    "attacks": ("a list of weighbeam.lab.attack.attack.Attack", _is_attacks),
    "lab_senses": ("a mapping of options of LocalSenses", _is_options),
}
"""The methods that `call_hook` calls, each with what it must return."""
