"""Every attack the lab knows: what the files of `lab/attacks` hold under `ATTACKS`."""

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab import attacks
from weighbeam.lab.attack import Attack


@cache
def list_attacks() -> tuple[Attack, ...]:
    """All of them, by name."""
    modules = [import_module(f"{attacks.__name__}.{found.name}") for found in iter_modules(attacks.__path__)]
    return tuple(sorted((attack for module in modules for attack in module.ATTACKS), key=lambda attack: attack.name))


def find_attacks(wanted: list[str]) -> tuple[Attack, ...]:
    """Those named in full, by family or by mechanism; all if none is named."""
    known = list_attacks()
    for name in wanted:
        if not any(name in (attack.name, attack.family, attack.mechanism) for attack in known):
            families = ", ".join(sorted({attack.family for attack in known}))
            remedy = f"name a mechanism, MECHANISM/ATTACK, or one of: {families}"
            raise WeighbeamError("unknown_attack", f"no attack is called {name!r}", remedy)
    return tuple(a for a in known if not wanted or {a.name, a.family, a.mechanism}.intersection(wanted))
