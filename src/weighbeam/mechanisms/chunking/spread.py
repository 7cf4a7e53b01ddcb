"""How sure a miner's average of ranks is (docs/run.md, "How sure a standing is")."""

from collections.abc import Sequence

from weighbeam.core.spread import spread_course
from weighbeam.mechanisms.chunking.params import ChunkingParams


def spread_ranks(params: ChunkingParams, course: Sequence[float]) -> float | None:
    """Where a group or a tie changes the weight of a rank, the course alone does not tell."""
    if params.alpha_min is not None or params.tie_alpha != "none":
        return None
    return spread_course(course, params.alpha)
