"""How unequally something is shared: the Gini coefficient, the largest shares, and how many would share it alike.

Negative amounts have no share; of nothing, nobody has one.
"""

import math
from collections.abc import Sequence


def gini(amounts: Sequence[float]) -> float:
    """0 if all have the same, towards 1 the fewer have it all; among n it is at most 1 − 1/n.

    >>> gini([1, 1, 1, 1]), gini([0, 0, 0, 1]), gini([])
    (0.0, 0.75, 0.0)
    """
    ordered = sorted(max(0.0, amount) for amount in amounts)
    count, total = len(ordered), math.fsum(ordered)
    if not total:
        return 0.0
    weighted = math.fsum((2 * place - count - 1) * amount for place, amount in enumerate(ordered, 1))
    return min(1 - 1 / count, max(0.0, weighted / (count * total)))


def top_share(amounts: Sequence[float], most: int) -> float:
    """What the `most` largest have together, of everything.

    >>> top_share([1, 2, 5], 1), top_share([1, 2, 5], 3), top_share([], 1)
    (0.625, 1.0, 0.0)
    """
    ordered = sorted((max(0.0, amount) for amount in amounts), reverse=True)
    total = math.fsum(ordered)
    return min(1.0, math.fsum(ordered[:most]) / total) if total else 0.0


def effective_number(amounts: Sequence[float]) -> float:
    """How many equals would be as concentrated: one over the sum of squared shares.

    >>> effective_number([1, 1, 1, 1]), effective_number([3, 0]), effective_number([])
    (4.0, 1.0, 0.0)
    """
    positive = [amount for amount in amounts if amount > 0]
    total = math.fsum(positive)
    if not total:
        return 0.0
    return min(float(len(positive)), max(1.0, 1 / math.fsum((amount / total) ** 2 for amount in positive)))
