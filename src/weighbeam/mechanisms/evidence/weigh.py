"""Rank active miners and pay by rank in integers that total 65,535 (spec § 10)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby, islice
from typing import Any

from weighbeam.core.canonical import seeded_digest
from weighbeam.core.stats import U16_MAX, apportion, parse_decimal, round_half_up
from weighbeam.mechanism.records import Seed
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stand import Memory

RANK_DECIMALS = 9


@dataclass(frozen=True, slots=True)
class RegisteredMiner:
    """One place of the subnet, at the block used."""

    uid: int
    hotkey: str
    permit: bool


def find_active(
    memories: Mapping[str, Memory],
    neurons: Sequence[RegisteredMiner],
    left_out: Collection[str],
    params: EvidenceParams,
) -> list[str]:
    """Registered miners without a permit that answered often and well enough and are not among the left out."""
    least = max(1, params.min_responses)
    active = []
    for neuron in neurons:
        memory = memories.get(neuron.hotkey, Memory())
        if neuron.permit or neuron.hotkey in left_out or memory.average is None or memory.responses < least:
            continue
        if params.min_score is None or round(memory.average, RANK_DECIMALS) >= params.min_score:
            active.append(neuron.hotkey)
    return active


def rank_active(memories: Mapping[str, Memory], active: Sequence[str], seed: Seed) -> list[str]:
    """Best average first, then more responses, then a seeded order that favours nobody for good."""

    def rank_key(hotkey: str) -> tuple[float, int, str]:
        memory = memories[hotkey]
        return -round(memory.average or 0.0, RANK_DECIMALS), -memory.responses, seeded_digest(seed, hotkey)

    return sorted(active, key=rank_key)


def count_equals(memories: Mapping[str, Memory], ranking: Sequence[str], params: EvidenceParams) -> list[int]:
    """How many miners stand at each place, the first place first: one each if ties are not shared."""
    if params.ties == "seeded":
        return [1] * len(ranking)
    averages = (round(memories[hotkey].average or 0.0, RANK_DECIMALS) for hotkey in ranking)
    return [len(list(equals)) for _, equals in groupby(averages)]


@dataclass(frozen=True, slots=True)
class RankPay:
    """Integers by rank, and what is burnt. All together are 65,535, or 0 if there is nobody to pay."""

    miners: tuple[int, ...]
    burn: int


def pay_ranks(equals: Sequence[int], burns: bool, params: EvidenceParams) -> RankPay:
    """The weights of ranked miners, so many of whom are equal; `burns` says whether there is anything to burn to.

    >>> pay_ranks([1, 1, 1], True, EvidenceParams())
    RankPay(miners=(20479, 8192, 4096), burn=32768)
    >>> pay_ranks([1, 2], True, EvidenceParams())
    RankPay(miners=(20479, 6144, 6144), burn=32768)
    """
    count = sum(equals)
    if not count:
        return RankPay((), U16_MAX if burns else 0)
    burn = _burn_first(burns, params)
    pool = U16_MAX - burn
    base = min(U16_MAX * parse_decimal(params.base_share), Fraction(pool))
    curve, residual = _share_pool(count, burns, params)
    ideals = [base / count + (pool - base) * share for share in _share_places(curve, equals)]
    *miners, rest = apportion([*ideals, (pool - base) * residual])
    return RankPay(tuple(miners), burn + rest)


def find_payable(memories: Mapping[str, Memory], eligible: Collection[str], params: EvidenceParams) -> list[str]:
    """The active among those the engine found eligible; permits and ourselves are out already."""
    neurons = [RegisteredMiner(uid, hotkey, False) for uid, hotkey in enumerate(sorted(eligible))]
    return find_active(memories, neurons, (), params)


def weigh_miners(
    memories: Mapping[str, Memory],
    neurons: Sequence[RegisteredMiner],
    burn_uid: int | None,
    left_out: Collection[str],
    seed: Seed,
    params: EvidenceParams,
) -> dict[str, Any]:
    """Ranking, weights by uid and their wire form, as `evidence.weigh` returns them."""
    uids = {neuron.hotkey: neuron.uid for neuron in neurons}
    burning = {neuron.hotkey for neuron in neurons if neuron.uid == burn_uid}
    ranking = rank_active(memories, find_active(memories, neurons, {*left_out, *burning}, params), seed)
    paid = pay_ranks(count_equals(memories, ranking, params), burn_uid is not None, params)
    weights = dict.fromkeys(sorted(uids.values()), 0)
    weights.update({uids[hotkey]: units for hotkey, units in zip(ranking, paid.miners, strict=True)})
    if burn_uid is not None:
        weights[burn_uid] = paid.burn
    return {
        "ranking": ranking,
        "uids": list(weights),
        "weights": list(weights.values()),
        "total": sum(weights.values()),
        "dropped": sorted(uids[hotkey] for hotkey in ranking if not weights[uids[hotkey]]),
        "emit": emit_weights(weights),
    }


def emit_weights(weights: Mapping[int, int]) -> dict[str, list[int]]:
    """The wire form: the largest becomes 65,535, halves up, zeros are left out.

    >>> emit_weights({0: 32768, 4: 0, 7: 20479})
    {'uids': [0, 7], 'values': [65535, 40957]}
    """
    largest = max(weights.values(), default=0)
    kept = {uid: units for uid, units in weights.items() if units}
    return {
        "uids": list(kept),
        "values": [round_half_up(Fraction(units * U16_MAX, largest)) for units in kept.values()],
    }


def _share_places(curve: Sequence[Fraction], equals: Sequence[int]) -> Iterator[Fraction]:
    """Equals get the mean of their places."""
    shares = iter(curve)
    for count in equals:
        yield from [sum(islice(shares, count), Fraction(0)) / count] * count


def _burn_first(burns: bool, params: EvidenceParams) -> int:
    return round_half_up(U16_MAX * parse_decimal(params.burn_share)) if burns else 0


def _share_pool(count: int, burns: bool, params: EvidenceParams) -> tuple[list[Fraction], Fraction]:
    """Shares of the pool by rank, and the share that is burnt on top: together exactly 1."""
    curve = [Fraction(1, 2**place) for place in range(1, count + 1)]
    left = curve[-1]
    if params.residual == "proportional":
        return [share / (1 - left) for share in curve], Fraction(0)
    if params.residual == "burn" and burns:
        return curve, left
    return [curve[0] + left, *curve[1:]], Fraction(0)
