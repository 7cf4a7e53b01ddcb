"""The demo's subnet as files: a chain with everybody registered, and settings for each validator and miner."""

from pathlib import Path

from weighbeam.chain.local.file import ChainFile
from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import MINERS, VALIDATORS, Part
from weighbeam.demo.subnet import ASK_SECONDS, create_chain

MINER_PORT = 8091
HEALTH_PORT = 9091


def write_subnet(folder: Path) -> list[Path]:
    """Everything that `weighbeam validator` and `weighbeam miner` need, in a new folder; gives the settings' files."""
    if folder.exists() and any(folder.iterdir()):
        raise WeighbeamError("folder_not_empty", f"{folder} is not empty", "name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    chain: ChainFile = create_chain(folder)
    chain.close()
    files = []
    for number, part in enumerate(VALIDATORS):
        files.append(_write(folder, part, _validator(part, HEALTH_PORT + number)))
    for number, part in enumerate(MINERS, 1):
        files.append(_write(folder, part, _miner(part, f"127.0.1.{number}:{MINER_PORT}")))
    return files


def _write(folder: Path, part: Part, rest: str) -> Path:
    path = folder / f"{part.name}.toml"
    wallet = f'[wallet]\nuri = "{part.uri}"\n\n[chain]\nkind = "local"\npath = "chain.sqlite"\n\n'
    path.write_text(f"# {part.name}: {part.about}\n\n{wallet}{rest}", "utf-8")
    return path


def _validator(part: Part, port: int) -> str:
    return (
        f'[store]\nurl = "sqlite:///{part.name}.db"\n\n'
        f'[validator]\nallow_private_addresses = true\nlisten = "127.0.0.1:{port}"\n\n'
        f'[mechanisms.chunking]\nmechid = 0\ntasks = "generated"\nparams = {{ timeout = {ASK_SECONDS} }}\n'
    )


def _miner(part: Part, listen: str) -> str:
    answer = part.name if part.role == "honest" else f"hostile:{part.name}"
    return (
        f'[miner]\nlisten = "{listen}"\nanswers = {{ chunking = "{answer}" }}\nnonces = "{part.name}-nonces.sqlite"\n'
    )
