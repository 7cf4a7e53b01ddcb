"""Mechanisms by name, found through the entry point group `weighbeam.mechanisms`."""

from functools import cache
from importlib.metadata import EntryPoint, entry_points

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.contract import Mechanism

GROUP = "weighbeam.mechanisms"


def list_mechanisms() -> dict[str, EntryPoint]:
    """Entry points by mechanism name; two packages that claim one name are refused."""
    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        if entry.name in found and found[entry.name].value != entry.value:
            raise WeighbeamError(
                "duplicate_mechanism",
                f"two packages provide {entry.name!r}: {found[entry.name].value} and {entry.value}",
                "uninstall one of them",
            )
        found[entry.name] = entry
    return found


@cache
def load_mechanism(name: str) -> Mechanism:
    """The mechanism called `name`."""
    known = list_mechanisms()
    if name not in known:
        raise WeighbeamError(
            "unknown_mechanism", f"no mechanism is called {name!r}", f"use one of: {', '.join(sorted(known))}"
        )
    try:
        mechanism: Mechanism = known[name].load()()
    except Exception as fault:
        raise WeighbeamError(
            "broken_mechanism", f"{name!r} does not load: {fault}", f"reinstall {known[name].value.split('.')[0]}"
        ) from fault
    return mechanism


def load_mechanisms() -> dict[str, Mechanism]:
    """Every registered mechanism."""
    return {name: load_mechanism(name) for name in sorted(list_mechanisms())}
