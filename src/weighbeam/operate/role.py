"""Whether settings are meant for who is started with them: a validator's, or a miner's."""

from typing import Literal

from weighbeam.core.errors import WeighbeamError
from weighbeam.settings.load import Loaded

Role = Literal["miner", "validator"]
SECTIONS: dict[Role, set[str]] = {"miner": {"miner"}, "validator": {"validator", "mechanisms"}}


def check_role(loaded: Loaded, role: Role) -> None:
    """`bad_config` for settings that speak of the other role alone: who is announced, and where, would be wrong."""
    given = {name for source in loaded.sources.values() for name in source}
    other: Role = "validator" if role == "miner" else "miner"
    if given & SECTIONS[other] and not given & SECTIONS[role]:
        missing = " or ".join(f"[{name}]" for name in sorted(SECTIONS[role]))
        told = f"these are the settings of a {other}: there is no {missing} in them"
        raise WeighbeamError("bad_config", told, f"name the {role}'s settings with --config, or add the section")
