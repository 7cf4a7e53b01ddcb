"""Novelty receipts and checks on a terminal."""

import typer

from weighbeam.cli.common.shell import make_printable
from weighbeam.mechanisms.novelty.desk.intake import Receipt
from weighbeam.mechanisms.novelty.desk.submission import NoveltyQuote
from weighbeam.mechanisms.novelty.explain import DOUBTS, format_tokens
from weighbeam.mechanisms.novelty.params import NoveltyParams


def show_receipt(receipt: Receipt, params: NoveltyParams, settled: bool = False) -> None:
    name = make_printable(str(receipt["contributor"]), 60)
    tokens = format_tokens(receipt["units"], params)
    typer.echo(
        f"contribution {receipt['id']} of {name}: {name_outcome(receipt['status'], receipt['units'])}, {tokens} tokens"
    )
    typer.echo(_format_nearest(receipt["micro"], receipt["nearest"], receipt.get("similarity"), receipt.get("new")))
    if receipt["status"] == "held" and not settled:
        typer.echo(f"held until `weighbeam novelty release {receipt['id']}` or `reject {receipt['id']}`")
    typer.echo(f"signed by {receipt['node']} ({receipt['scheme']}), ledger {receipt['ledger'][:16]}")


def show_checked(found: NoveltyQuote, params: NoveltyParams) -> None:
    typer.echo(f"would be {name_outcome(found.status, found.units)}: {format_tokens(found.units, params)} tokens")
    similarity, new = (None, None) if found.value is None else (found.value.similarity, found.value.new)
    typer.echo(_format_nearest(found.micro, found.nearest, similarity, new))
    for doubt in found.doubts:
        typer.echo(f"implausible: {DOUBTS[doubt]}")


def name_outcome(status: str, units: int) -> str:
    """Name an outcome: without a reward it is "not new" instead of "paid".

    >>> name_outcome("paid", 0), name_outcome("paid", 7), name_outcome("held", 0)
    ('not new', 'paid', 'held')
    """
    return "not new" if status == "paid" and not units else status


def _format_nearest(micro: int | None, nearest: int | None, similarity: int | None, new: int | None) -> str:
    """Both numbers, where the cosine was not the similarity that was paid for."""
    if nearest is None:
        return "nothing came before it"
    told = f"nearest is contribution {nearest}, similarity"
    if similarity is None:
        return f"{told} {(micro or 0) / 1_000_000:.6f}"
    part = "" if new in (None, 1_000_000) else f", {(new or 0) / 1_000_000:.0%} of it new"
    return f"{told} {similarity / 1_000_000:.6f} (cosine {(micro or 0) / 1_000_000:.6f}){part}"
