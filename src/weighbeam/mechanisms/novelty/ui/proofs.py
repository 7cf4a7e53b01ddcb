"""`weighbeam novelty verify`, `audit`, `plot` and `calibrate`: check receipts and the store, draw and fit the curve."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from weighbeam.cli.common.options import AsJson, ParamsFile, SetOption
from weighbeam.cli.common.receipts import MAX_TOLD, NodeOption, load_receipt, report_signer
from weighbeam.cli.common.shell import EXIT_CHECK_FAILED, make_printable, print_json
from weighbeam.mechanisms.novelty.ui.options import ConfigOption, StoreOption, choose

if TYPE_CHECKING:
    from weighbeam.mechanisms.novelty.desk.audit import DeskAudit

Deep = Annotated[bool, typer.Option("--deep", help="Measure every similarity again, from the vectors.")]


def verify(
    file: Annotated[
        Path, typer.Argument(help="A receipt as `submit --json` or `receipt --json` prints it, or an export.")
    ],
    node: NodeOption = None,
    deep: Deep = False,
    as_json: AsJson = False,
) -> None:
    """Verify a receipt or an export offline.

    It needs no store. Exits with 1 if it does not hold.
    """
    from weighbeam.mechanisms.novelty.desk.audit import verify_export

    found = load_receipt(file)
    if found is None:
        looked, faults = verify_export(file, node, deep)
        report_faults(looked, faults, as_json)
    else:
        report_signer(found, node, as_json)


def audit(
    node: NodeOption = None,
    deep: Deep = False,
    store: StoreOption = None,
    config: ConfigOption = None,
    as_json: AsJson = False,
) -> None:
    """Audit the store: compute every payment again.

    Chain, sums and signatures are checked too. Exits with 1 if anything is wrong.
    """
    from weighbeam.mechanisms.novelty.desk.audit import audit_store
    from weighbeam.mechanisms.novelty.desk.opening import view_kept

    kept = view_kept(choose(store, config).place)
    with kept.read() as connection:
        looked, found = audit_store(connection, kept.file, node, deep)
        faults = list(found)
    report_faults(looked, faults, as_json)


def plot(
    file: Annotated[Path, typer.Argument(help="The picture to write: a .png, .svg or .html file.")],
    curve: Annotated[
        Literal["exponential", "fitted"], typer.Option(help="`fitted` draws the other curve beside it.")
    ] = "exponential",
    store: StoreOption = None,
    config: ConfigOption = None,
    params: ParamsFile = None,
    settings: SetOption = None,
    as_json: AsJson = False,
) -> None:
    """Draw the reward over similarity.

    With this corpus on the curve.
    """
    from weighbeam.cli.common.picture import save_picture
    from weighbeam.mechanisms.novelty.desk.curve import draw_curve
    from weighbeam.mechanisms.novelty.desk.opening import view_kept

    chosen = choose(store, config)
    drawn = draw_curve(view_kept(chosen.place), chosen.params(params, settings), curve)
    path = save_picture(drawn, file)
    if as_json:
        print_json({"file": path, "curve": curve})
    else:
        typer.echo(path)


def calibrate(
    pairs: Annotated[Path, typer.Argument(help='One pair per line: {"a": …, "b": …, "same": true or false}.')],
    name: Annotated[str, typer.Option(help="Name of the scale, with a version.")] = "own-1",
    embedder: Annotated[str | None, typer.Option("--embedder", help="Else the default one.")] = None,
    as_json: AsJson = False,
) -> None:
    """Fit an embedder's scale to labelled pairs."""
    from weighbeam.mechanisms.novelty.lab.calibrate import fit_pairs
    from weighbeam.senses.local import DEFAULT_EMBEDDER, LocalSenses

    sense = LocalSenses(embedder or DEFAULT_EMBEDDER).embedder
    scale, count = fit_pairs(pairs, name, sense)
    if as_json:
        print_json({"scale": scale, "embedder": sense.id, "pairs": count})
    else:
        typer.echo(f'scale = "{scale}"')


def report_faults(looked: "DeskAudit", faults: list[str], as_json: bool) -> None:
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
            typer.echo(make_printable(fault, MAX_TOLD))
        told = f"{counted.contributions} contributions, {counted.pieces} pieces, {counted.entries} entries"
        typer.echo(f"{told}: {len(faults)} faults; signed by {', '.join(sorted(counted.nodes)) or 'nobody'}")
    if faults:
        raise typer.Exit(EXIT_CHECK_FAILED)
