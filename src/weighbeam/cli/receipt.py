"""`weighbeam receipt verify`: is what a validator said about a score what it signed?"""

from pathlib import Path
from typing import Annotated

import typer

from weighbeam.cli.novelty_options import AsJson, Node
from weighbeam.cli.novelty_proofs import MOST_TOLD, read_receipt, tell_signer
from weighbeam.cli.shell import make_app, make_printable

receipt_app = make_app("Receipts that a validator signed.")


@receipt_app.callback()
def root() -> None:
    pass


@receipt_app.command()
def verify(
    file: Annotated[
        Path, typer.Argument(help="A receipt as /v1/rounds/ROUND/receipts/HOTKEY or a novelty desk gave it.")
    ],
    node: Node = None,
    as_json: AsJson = False,
) -> None:
    """Check a receipt offline: of a score, or of a contribution to novelty; exit 1 if it does not hold."""
    from weighbeam.core.errors import WeighbeamError

    found = read_receipt(file)
    if found is None:
        raise WeighbeamError("bad_receipt", f"{file} is an export", "use weighbeam novelty verify")
    tell_signer(found, node, as_json)
    if found.get("kind") == "score" and not as_json:
        told = f"{found['round']}: {found['hotkey']} was {found['status']} with {found['value']}"
        typer.echo(make_printable(told, MOST_TOLD))
