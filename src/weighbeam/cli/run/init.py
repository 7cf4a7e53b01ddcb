"""`weighbeam init`: write a commented settings file, and say how to go on."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weighbeam.cli.common.options import AsJson, complete_mechanism
from weighbeam.cli.common.shell import make_app, make_printable, name_program, print_json

if TYPE_CHECKING:
    from weighbeam.app.settings.starter import StarterChoice, StarterRole

init_app = make_app("Write a commented settings file to start from.")

FileOut = Annotated[Path | None, typer.Argument(metavar="FILE", help="The file to write.")]
Netuid = Annotated[
    int | None, typer.Option(min=1, max=4095, help="The subnet on Bittensor; without it, a local chain.")
]
Wallet = Annotated[str, typer.Option(metavar="NAME", help="With --netuid: the wallet.")]
HotkeyName = Annotated[str, typer.Option("--hotkey", metavar="NAME", help="With --netuid: which of its hotkeys.")]
ChainPath = Annotated[
    Path | None,
    typer.Option("--chain", metavar="PATH", help="Without --netuid: the local chain; else chain.sqlite beside FILE."),
]
Listen = Annotated[str | None, typer.Option(metavar="HOST:PORT", help="The address to serve on.")]
Force = Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")]


@init_app.command()
def validator(
    file: FileOut = None,
    netuid: Netuid = None,
    mechanism: Annotated[
        list[str] | None,
        typer.Option(help="A mechanism to run; may be repeated.", autocompletion=complete_mechanism),
    ] = None,
    wallet: Wallet = "default",
    hotkey: HotkeyName = "default",
    chain: ChainPath = None,
    listen: Listen = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the settings of a validator.

    Without --netuid it runs on a chain on this machine: the chain is created and the validator registered on it, so
    that it can start at once. FILE is validator.toml unless you name another.
    """
    from weighbeam.app.local_subnet import VALIDATOR_STAKE

    chosen = _choose("validator", file, netuid, wallet, hotkey, chain, listen, mechanism)
    _write(chosen, force, as_json, VALIDATOR_STAKE)


@init_app.command()
def miner(
    file: FileOut = None,
    netuid: Netuid = None,
    wallet: Wallet = "default",
    hotkey: HotkeyName = "default",
    chain: ChainPath = None,
    listen: Listen = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Write the settings of a miner.

    Without --netuid it is registered on a chain on this machine. Each file has a key of its own, so more files are
    more miners; give each its own address with --listen. FILE is miner.toml unless you name another.
    """
    _write(_choose("miner", file, netuid, wallet, hotkey, chain, listen), force, as_json)


@init_app.command("app")
def init_for_app(file: FileOut = None, listen: Listen = None, force: Force = False, as_json: AsJson = False) -> None:
    """Write the settings of an app.

    An app needs no chain and no wallet: `weighbeam serve` answers it over HTTP. FILE is weighbeam.toml unless you name
    another.
    """
    _write(_choose("app", file, None, "", "", None, listen), force, as_json)


def _choose(
    role: "StarterRole",
    file: Path | None,
    netuid: int | None,
    wallet: str,
    hotkey: str,
    chain: Path | None,
    listen: str | None,
    mechanisms: list[str] | None = None,
) -> "StarterChoice":
    from weighbeam.app.settings.starter import DEFAULT_CHAIN, DEFAULT_FILES, StarterChoice
    from weighbeam.network.http_server import check_listen

    if listen is not None:
        check_listen(listen)
    out = file or Path(DEFAULT_FILES[role])
    place = DEFAULT_CHAIN if chain is None else str(chain.resolve())
    return StarterChoice(role, out, netuid, wallet, hotkey, place, listen, tuple(dict.fromkeys(mechanisms or ())))


def _write(choice: "StarterChoice", force: bool, as_json: bool, stake: int = 0) -> None:
    from weighbeam.app.identity import open_hotkey
    from weighbeam.app.local_subnet import join_subnet
    from weighbeam.app.settings.sources import load_settings
    from weighbeam.app.settings.starter import save_starter

    save_starter(choice, force)
    joined = None
    if choice.role != "app" and choice.netuid is None:
        loaded = load_settings(choice.file, {})
        address, place = open_hotkey(loaded).address, loaded.path(loaded.settings.chain.path)
        joined = {"hotkey": address, "chain": str(place), "uid": join_subnet(place, address, stake)}
    following = _list_next(choice)
    if as_json:
        print_json({"file": str(choice.file), "registered": joined, "next": following})
        return
    typer.echo(f"written: {make_printable(str(choice.file))}")
    if joined is not None and joined["uid"] is not None:
        typer.echo(make_printable(f"registered: {joined['hotkey']} as uid {joined['uid']} of {joined['chain']}"))
    elif joined is not None:
        typer.echo(make_printable(f"registered before: {joined['hotkey']} on {joined['chain']}"))
    typer.echo("next:")
    for command in following:
        typer.echo(f"  {command}")


def _list_next(choice: "StarterChoice") -> list[str]:
    """The commands that follow, to paste."""
    from weighbeam.app.settings.starter import COMMANDS, DEFAULT_CHAIN, DEFAULT_FILES

    program, config = name_program(), f"--config {shlex.quote(str(choice.file))}"
    doctor, start = f"{program} doctor {config}", f"{program} {COMMANDS[choice.role]} {config}"
    if choice.role == "app":
        return [doctor, f"{program} serve token new --name my-app --scope submit {config}", start]
    if choice.netuid is not None or choice.role == "miner":
        return [doctor, start]
    beside = shlex.quote(str(choice.file.parent / DEFAULT_FILES["miner"]))
    chain = "" if choice.chain == DEFAULT_CHAIN else f" --chain {shlex.quote(choice.chain)}"
    return [doctor, f"{program} init miner {beside}{chain}", f"{program} run miner --config {beside}", start]
