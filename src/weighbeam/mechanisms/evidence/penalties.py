"""The penalty of a rejection by its code (spec § 3)."""

from weighbeam.mechanisms.evidence.params import EvidenceParams


def find_penalty(params: EvidenceParams, code: str) -> float:
    """What replaces the score.

    >>> find_penalty(EvidenceParams(), "search_url")
    -5.0
    """
    return float(getattr(params, f"penalty_{code}"))
