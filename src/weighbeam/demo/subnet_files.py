"""The demo's subnet as files: a registered chain, and settings for each validator and miner."""

from pathlib import Path

from weighbeam.core.errors import WeighbeamError
from weighbeam.demo.cast import ASKED, MECHANISMS, MINERS, OWNER, VALIDATORS, DemoNeuron
from weighbeam.demo.subnet import PARAMS, create_chain
from weighbeam.mechanism.registry import load_mechanism
from weighbeam.mechanisms.inference.miners.prepared_answers import load_prompts

MINER_PORT = 8091
HEALTH_PORT = 9091
PROMPTS = "prompts"
TASKS = {"inference": f"folder:{PROMPTS}"}


def save_subnet(folder: Path) -> list[Path]:
    """Everything that `weighbeam run` needs, in a new folder; gives the settings' files."""
    if folder.exists() and any(folder.iterdir()):
        raise WeighbeamError("folder_not_empty", f"{folder} is not empty", "name a new folder")
    folder.mkdir(parents=True, exist_ok=True)
    create_chain(folder).close()
    _save_prompts(folder / PROMPTS)
    files = []
    files += [save_validator_settings(folder, part) for part in VALIDATORS]
    for number, part in enumerate(MINERS, 1):
        files.append(_save_settings(folder, part, _format_miner(part, f"127.0.1.{number}:{MINER_PORT}")))
    return files


def save_validator_settings(folder: Path, part: DemoNeuron) -> Path:
    """Settings of one of the validators, for a subnet in this folder."""
    return _save_settings(folder, part, _format_validator(part, HEALTH_PORT + VALIDATORS.index(part)))


def _save_settings(folder: Path, part: DemoNeuron, rest: str) -> Path:
    path = folder / f"{part.name}.toml"
    wallet = f'[wallet]\nuri = "{part.uri}"\n\n[chain]\nkind = "local"\npath = "chain.sqlite"\n\n'
    path.write_text(f"# {part.name}: {part.about}\n\n{wallet}{rest}", "utf-8")
    return path


def _save_prompts(folder: Path) -> None:
    """One file for each prompt that the miners have answers for."""
    folder.mkdir()
    for prompt, name in load_prompts().items():
        (folder / f"{name}.txt").write_text(f"{prompt}\n", "utf-8")


def _format_validator(part: DemoNeuron, port: int) -> str:
    return (
        f'[store]\nurl = "sqlite:///{part.name}.db"\n\n'
        f'[novelty]\nnonces = "{part.name}-novelty-nonces.sqlite"\n\n'
        f'[validator]\nallow_private_addresses = true\nlisten = "127.0.0.1:{port}"\npages = "embedded"\n'
        + "".join(_format_mechanism(name, mechid) for mechid, name in enumerate(MECHANISMS))
    )


def _format_mechanism(name: str, mechid: int) -> str:
    params = ", ".join(f"{key} = {value}" for key, value in PARAMS[name].items())
    tasks = f'tasks = "{TASKS[name]}"\n' if name in TASKS else ""
    burn = f'burn_hotkey = "{OWNER.hotkey.address}"\n' if load_mechanism(name).burns else ""
    return f"\n[mechanisms.{name}]\nmechid = {mechid}\n{tasks}{burn}" + (
        f"override_params = true\nparams = {{ {params} }}\n" if params else ""
    )


def _format_miner(part: DemoNeuron, listen: str) -> str:
    answers = ", ".join(f'{mechanism} = "{part.acts[mechanism].answers}"' for mechanism in ASKED)
    return f'[miner]\nlisten = "{listen}"\nanswers = {{ {answers} }}\nnonces = "{part.name}-nonces.sqlite"\n'
