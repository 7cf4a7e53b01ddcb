"""`weighbeam novelty verify`, `audit` and `plot`: is it right, and what does it look like?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from weighbeam.cli.novelty_bulk import open_lines
from weighbeam.cli.novelty_options import (
    AsJson,
    ConfigOption,
    Node,
    ParamsFile,
    Settings,
    StoreOption,
    choose,
)
from weighbeam.cli.shell import EXIT_CHECK_FAILED, make_printable, print_json

if TYPE_CHECKING:
    from weighbeam.novelty.audit import Audit

Deep = Annotated[bool, typer.Option("--deep", help="Measure every similarity again, from the vectors.")]
MOST_TOLD = 200
OPENING = b'{"kind": "export"'


def verify(
    file: Annotated[
        Path, typer.Argument(help="A receipt as `submit --json` or `receipt --json` prints it, or an export.")
    ],
    node: Node = None,
    deep: Deep = False,
    as_json: AsJson = False,
) -> None:
    """Check a receipt or an export offline, without the store; exit 1 if it does not hold."""
    from weighbeam.novelty.verify import verify_export

    found = read_receipt(file)
    if found is None:
        looked, faults = verify_export(file, node, deep)
        tell_faults(looked, faults, as_json)
    else:
        tell_signer(found, node, as_json)


def tell_signer(found: dict[str, Any], node: str | None, as_json: bool) -> None:
    """Who signed a receipt; exit 1 if nobody did."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.novelty.verify import verify_receipts

    try:
        signer = verify_receipts(found, node)
    except WeighbeamError as fault:
        if as_json:
            print_json({"valid": False, "fault": fault.message})
        else:
            typer.echo(f"not valid: {make_printable(fault.message, MOST_TOLD)}")
        raise typer.Exit(EXIT_CHECK_FAILED) from None
    if as_json:
        print_json({"valid": True, "node": signer})
    else:
        trusted = "" if node else "; --node ADDRESS checks that it is the one you trust"
        typer.echo(f"valid: signed by {signer}{trusted}")


def audit(
    node: Node = None,
    deep: Deep = False,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Check the whole store: chain, sums, signatures, and every payment computed again; exit 1 if anything is off."""
    from weighbeam.novelty.audit import Audit
    from weighbeam.novelty.audit_vectors import compare_vectors
    from weighbeam.novelty.record import read_record
    from weighbeam.operate.novelty import view_kept

    kept = view_kept(choose(store, config).place)
    with kept.read() as connection:
        looked = Audit(read_record(connection), node, deep)
        faults = [*looked.find_faults(), *compare_vectors(connection)]
    tell_faults(looked, faults, as_json)


def plot(
    file: Annotated[Path, typer.Argument(help="The picture to write: a .png, .svg or .html file.")],
    curve: Annotated[
        Literal["exponential", "fitted"], typer.Option(help="`fitted` draws the other curve beside it.")
    ] = "exponential",
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> None:
    """Draw the reward over similarity, and where this corpus lies on it."""
    from weighbeam.cli.save_picture import save_picture
    from weighbeam.novelty.draw import draw_curve
    from weighbeam.operate.novelty import view_kept

    chosen = choose(store, config)
    drawn = draw_curve(view_kept(chosen.place), chosen.params(params, settings), curve)
    path = save_picture(drawn, file)
    if as_json:
        print_json({"file": path, "curve": curve})
    else:
        typer.echo(path)


def read_receipt(file: Path) -> dict[str, Any] | None:
    """The one JSON object of a file, which names nothing twice; None if the file is an export."""
    from weighbeam.core.errors import WeighbeamError
    from weighbeam.engine.read_json import MAX_JSON_BYTES, read_bytes
    from weighbeam.network.strict_json import read_strict

    with open_lines(file) as lines:
        if lines.read(len(OPENING)) == OPENING:
            return None
    try:
        found = read_strict(read_bytes(file, MAX_JSON_BYTES))
    except WeighbeamError as fault:
        if fault.code != "malformed":
            raise
        raise WeighbeamError("not_json", f"{file} is {fault.message}", "give what submit --json printed") from None
    if not isinstance(found, dict):
        raise WeighbeamError("bad_receipt", f"{file} holds no receipt", "give what submit --json printed")
    return found


def tell_faults(looked: "Audit", faults: list[str], as_json: bool) -> None:
    counted = looked.counted
    if as_json:
        print_json(
            {
                "sound": not faults,
                "faults": faults,
                "contributions": counted.contributions,
                "pieces": counted.pieces,
                "entries": counted.entries,
                "units": counted.units,
                "nodes": sorted(counted.nodes),
            }
        )
    else:
        for fault in faults:
            typer.echo(make_printable(fault, MOST_TOLD))
        told = f"{counted.contributions} contributions, {counted.pieces} pieces, {counted.entries} entries"
        typer.echo(f"{told}: {len(faults)} faults; signed by {', '.join(sorted(counted.nodes)) or 'nobody'}")
    if faults:
        raise typer.Exit(EXIT_CHECK_FAILED)
