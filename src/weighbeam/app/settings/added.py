"""Sections of the settings that packages add, found by entry point.

`NAME = "module:Class"` in the group `weighbeam.settings` makes a pydantic model the section `[NAME]`, and its fields
the variables `WEIGHBEAM_NAME__FIELD`. The module is imported whenever settings are read, so it should import little.

A package that does not load stops only its own section, and says why when that section is set.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points

from pydantic import BaseModel, ValidationError

from weighbeam.core.errors import WeighbeamError

GROUP = "weighbeam.settings"
OWN = "weighbeam"
"""The package whose sections keep their names if another package claims them too."""
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
"""A name that a variable of the environment can carry."""
RULE = "register a pydantic model whose fields all have defaults, under a name such as my_section"


@dataclass(frozen=True, slots=True)
class AddedSections:
    """The models by the names of their sections, and why others cannot be used."""

    kinds: dict[str, type[BaseModel]] = field(default_factory=dict)
    broken: dict[str, WeighbeamError] = field(default_factory=dict)


def load_added(taken: Collection[str]) -> AddedSections:
    """Every section that a package adds; names in `taken` are not to be had."""
    claims: dict[str, dict[str, EntryPoint]] = defaultdict(dict)
    for entry in entry_points(group=GROUP):
        claims[entry.name][entry.value] = entry
    added = AddedSections()
    for name in sorted(claims.keys() - set(taken)):
        try:
            added.kinds[name] = _load_section(name, list(claims[name].values()))
        except WeighbeamError as fault:
            added.broken[name] = fault
    return added


def holds_secret(kind: type[BaseModel]) -> bool:
    """Whether a value of this section may be secret; if that cannot be known, it may."""
    try:
        return "'writeOnly': True" in str(kind.model_json_schema())
    except Exception:
        return True


def _load_section(name: str, claims: Sequence[EntryPoint]) -> type[BaseModel]:
    entry, *others = [claim for claim in claims if claim.module.split(".")[0] == OWN] or claims
    if others:
        told = f"two packages add the section [{name}]: {' and '.join(sorted(claim.value for claim in claims))}"
        raise WeighbeamError("bad_config", told, "uninstall one of them")
    package = entry.dist.name if entry.dist else entry.module.split(".")[0]
    try:
        kind = entry.load()
    except (Exception, SystemExit) as fault:
        told = f"the section [{name}] does not load: {type(fault).__name__}: {fault}"
        raise WeighbeamError("bad_config", told, f"upgrade or reinstall {package}") from fault
    if not NAME.fullmatch(name) or not _is_section(kind):
        raise WeighbeamError("bad_config", f"the section [{name}] cannot be used", f"fix {package}: {RULE}")
    return kind  # type: ignore[no-any-return]


def _is_section(kind: object) -> bool:
    if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
        return False
    try:
        kind()
    except ValidationError:
        return False
    return True
