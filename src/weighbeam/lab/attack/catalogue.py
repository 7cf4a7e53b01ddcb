"""The catalogue of attacks: those of every installed mechanism, and those on the chain's own rule."""

from functools import cache

from weighbeam.core.errors import WeighbeamError
from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.validators import colluding_validators, weight_copying
from weighbeam.mechanism.registry import call_hook


@cache
def list_attacks() -> tuple[Attack, ...]:
    """All of them, by name."""
    of_mechanisms = [attack for found in call_hook("attacks").values() for attack in found]
    of_the_chain = [*colluding_validators.ATTACKS, *weight_copying.ATTACKS]
    return tuple(sorted([*of_mechanisms, *of_the_chain], key=lambda attack: attack.name))


def find_attacks(wanted: list[str]) -> tuple[Attack, ...]:
    """Those named in full, by family or by mechanism; all if none is named."""
    known = list_attacks()
    for name in wanted:
        if not any(name in (attack.name, attack.family, attack.mechanism) for attack in known):
            families = ", ".join(sorted({attack.family for attack in known}))
            remedy = f"name a mechanism, MECHANISM/ATTACK, or one of: {families}"
            raise WeighbeamError("unknown_attack", f"no attack is called {name!r}", remedy)
    return tuple(a for a in known if not wanted or {a.name, a.family, a.mechanism}.intersection(wanted))
