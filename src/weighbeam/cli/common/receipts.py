"""Receipts in files: load one, and report who signed it."""

from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer

from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_printable, print_json
from weighbeam.core.errors import WeighbeamError

NodeOption = Annotated[str | None, typer.Option("--node", metavar="ADDRESS", help="The hotkey that must have signed.")]
MAX_TOLD = 200
OPENING = b'{"kind": "export"'


def load_receipt(file: Path) -> dict[str, Any] | None:
    """The one JSON object of a file, which names nothing twice; None if the file is an export."""
    from weighbeam.engine.support.json_files import MAX_JSON_BYTES, load_bytes
    from weighbeam.network.strict_json import parse_strict

    with open_lines(file) as lines:
        if lines.read(len(OPENING)) == OPENING:
            return None
    try:
        found = parse_strict(load_bytes(file, MAX_JSON_BYTES), max_nodes=MAX_JSON_BYTES)
    except WeighbeamError as fault:
        if fault.code != "malformed":
            raise
        raise WeighbeamError("not_json", f"{file} is {fault.message}", "give what submit --json printed") from None
    if not isinstance(found, dict):
        raise WeighbeamError("bad_receipt", f"{file} holds no receipt", "give what submit --json printed")
    return found


def report_signer(found: dict[str, Any], node: str | None, as_json: bool) -> None:
    """Report who signed a receipt; exit 1 if nobody did."""
    from weighbeam.network.receipts import verify_receipts

    try:
        signer = verify_receipts(found, node)
    except WeighbeamError as fault:
        if as_json:
            print_json({"valid": False, "fault": fault.message})
        else:
            typer.echo(f"not valid: {make_printable(fault.message, MAX_TOLD)}")
        raise typer.Exit(EXIT_CHECK_FAILED) from None
    if as_json:
        print_json({"valid": True, "node": signer})
    else:
        trusted = "" if node else "; --node ADDRESS checks that it is the one you trust"
        typer.echo(f"valid: signed by {signer}{trusted}")


def open_lines(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except FileNotFoundError:
        raise WeighbeamError("no_such_file", f"{file} does not exist", "check the path") from None
    except OSError as fault:
        raise WeighbeamError("unreadable_file", f"{file}: {fault.strerror}", "give a file you may read") from None
