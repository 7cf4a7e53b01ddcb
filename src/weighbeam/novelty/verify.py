"""Check offline what a desk gave away: a receipt, a receipt with its settlement, or a whole export."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.receipts import check_receipt
from weighbeam.novelty.audit import Audit
from weighbeam.novelty.bring_in import split_lines
from weighbeam.novelty.export import read_export


def verify_receipts(found: Mapping[str, Any], node: str | None) -> str:
    """Who signed a receipt, or a receipt and its settlement; `bad_receipt` if they are not whole or not together."""
    if "receipt" not in found:
        return check_receipt(found, node)
    signer = check_receipt(found["receipt"], node)
    settlement = found.get("settlement")
    if settlement is not None:
        check_receipt(settlement, node)
        same = ("id", "contributor", "text_sha256", "units")
        if any(settlement.get(name) != found["receipt"].get(name) for name in same):
            raise WeighbeamError("bad_receipt", "receipt and settlement are of two contributions", "check each alone")
    return signer


def verify_export(path: Path, node: str | None, deep: bool) -> tuple[Audit, list[str]]:
    """The audit of an export, and all it found; `bad_export` if it cannot be read."""
    with path.open("rb") as file:
        try:
            audit = Audit(read_export(split_lines(file)), node, deep)
            return audit, list(audit.find_faults())
        except (ValueError, TypeError, KeyError, ArithmeticError) as fault:
            told = f"{path} holds what no desk writes: {type(fault).__name__}: {fault}"
            raise WeighbeamError("bad_export", told, "export it again") from None
