"""Change a local chain while it runs, as its owner or the network would."""

from typing import Any

from weighbeam.chain.local.blocks import at_present
from weighbeam.chain.local.file import ChainFile
from weighbeam.chain.local.parameters import SubnetParameters


def set_stake(file: ChainFile, hotkey: str, stake: int) -> None:
    with at_present(file) as block:
        changed = file.db.execute("UPDATE neurons SET stake = ? WHERE hotkey = ?", (stake, hotkey))
        assert changed.rowcount == 1, f"{hotkey} is not registered"
        file.note(block, "StakeSet", hotkey=hotkey, value=stake)


def set_parameters(file: ChainFile, **changes: Any) -> None:
    with at_present(file) as block:
        file.write("parameters", SubnetParameters(**{**file.read("parameters"), **changes}).model_dump())
        file.note(block, "ParametersChanged", **changes)
