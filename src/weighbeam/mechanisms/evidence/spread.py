"""How sure a miner's average is: fast at first, then with a longer memory, like the average itself."""

from collections.abc import Sequence

from weighbeam.core.spread import recover_values, spread_average
from weighbeam.mechanisms.contract import Standing
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stand import recall


def spread_responses(params: EvidenceParams, standing: Standing, course: Sequence[float]) -> float | None:
    """`standing` says how many responses there were: the first of them is the average itself, and counts as a value.

    >>> spread_responses(EvidenceParams(), Standing("a", 3.0, {"responses": 3}), [3.0, 3.0, 3.0])
    0.0
    """
    responses = recall(standing).responses
    own = list(course[-responses:]) if responses else []
    numbers = range(responses - len(own) + 1, responses + 1)
    fast, slow = params.immunity_new, 1 - params.history
    alphas = [fast if number <= params.immunity_responses else slow for number in numbers]
    if not own or min(alphas) <= 0:
        return None
    values = recover_values(own, alphas[1:])
    if len(own) == responses:
        return spread_average([own[0], *values], [1.0, *alphas[1:]])
    return spread_average(values, alphas[1:])
