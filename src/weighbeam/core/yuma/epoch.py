"""One Yuma epoch in integers: from stakes and weight rows to consensus, incentive, dividends and bonds.

docs/spec/chain.md § 3, rule by rule. A matrix is a list of sparse rows, column → value, columns ascending. An entry
of value 0 is present; absent is something else. Nothing is a float, and no two roundings are merged into one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from weighbeam.core.yuma.fixed import HALF, ONE, divide, exponential, multiply, normalise, ratio, to_share, whole

Row = dict[int, int]
Matrix = list[Row]


@dataclass(frozen=True, slots=True)
class YumaParams:
    kappa: int
    yuma3: bool
    liquid_alpha: bool
    alpha_low: int
    alpha_high: int
    alpha_steepness: int
    bonds_moving_average: int
    bonds_penalty: int
    max_validators: int
    tempo: int
    activity_cutoff: int
    stake_threshold: int
    owner_uid: int | None


@dataclass(frozen=True, slots=True)
class YumaSubnet:
    """State of the chain when an epoch is due; lists are by uid, rows are stored u16 values."""

    block: int
    stake: Sequence[int]
    weights: Sequence[Mapping[int, int]]
    permits: Sequence[bool]
    last_update: Sequence[int]
    registered_at: Sequence[int]
    bonds: Sequence[Mapping[int, int]]
    last_step_block: int | None = None
    emission: int = 0
    commit_blocks: Sequence[int | None] | None = None


@dataclass(frozen=True, slots=True)
class YumaEpoch:
    """Result of an epoch; shares are u16, emissions are rao."""

    consensus: list[int]
    incentive: list[int]
    dividends: list[int]
    validator_trust: list[int]
    permits: list[bool]
    active: list[bool]
    bonds: list[Row]
    server_emission: list[int]
    validator_emission: list[int]


def run_epoch(subnet: YumaSubnet, params: YumaParams) -> YumaEpoch:
    """The epoch of one mechanism."""
    uids = range(len(subnet.stake))
    owner = params.owner_uid
    active = [subnet.last_update[i] + params.activity_cutoff >= subnet.block for i in uids]
    stake = share_stake(subnet.stake, params.stake_threshold, owner)
    permits = [bool(subnet.permits[i]) or i == owner for i in uids]
    voting = normalise([stake[i] if active[i] and permits[i] else 0 for i in uids])
    weights = _mask_weights(subnet, permits, owner)
    consensus = _find_consensus(weights, voting, ratio(params.kappa))
    clipped = [_clip(row, consensus) for row in weights]
    trust = [sum(row.values()) for row in clipped]
    ranks = [0 for _ in uids]
    for i, row in enumerate(clipped):
        for j, value in row.items():
            ranks[j] += multiply(voting[i], value)
    incentive = normalise(ranks)
    penalised = _penalise(weights, clipped, ratio(params.bonds_penalty))
    if params.yuma3:
        held = _hold_bonds(subnet, params, penalised, consensus)
        dividends, bonds = _pay_yuma3(held, voting, incentive), held
    else:
        held = _trade_bonds(subnet, params, penalised, voting)
        dividends, bonds = _pay_yuma2(held, incentive), _scale_columns(held, max)
    new_permits = grant_permits(stake, params.max_validators, owner)
    server, validator = share_emission(subnet.emission, incentive, dividends, voting, stake)
    return YumaEpoch(
        consensus=[to_share(value) for value in consensus],
        incentive=[to_share(value) for value in incentive],
        dividends=[to_share(value) for value in dividends],
        validator_trust=[to_share(value) for value in trust],
        permits=new_permits,
        active=active,
        bonds=[_store_bonds(bonds[i], subnet.bonds[i], new_permits[i], permits[i]) for i in uids],
        server_emission=server,
        validator_emission=validator,
    )


def share_stake(stake: Sequence[int], threshold: int, owner: int | None) -> list[int]:
    counted = [value if value >= threshold or i == owner else 0 for i, value in enumerate(stake)]
    total = sum(counted)
    return [value * ONE // total if total else 0 for value in counted]


def grant_permits(stake: Sequence[int], limit: int, owner: int | None) -> list[bool]:
    """Permits for the next epoch: the largest stakes; among equals the lower uid loses."""
    granted = [value != 0 for value in stake]
    if len(stake) >= limit:
        ascending = sorted(range(len(stake)), key=lambda i: (stake[i], i))
        for i in ascending[: len(stake) - limit]:
            granted[i] = False
    return [kept or i == owner for i, kept in enumerate(granted)]


def _mask_weights(subnet: YumaSubnet, permits: Sequence[bool], owner: int | None) -> Matrix:
    """Weight rows that count, each scaled to its sum."""
    return [_mask_row(i, row, subnet, owner) if permits[i] else {} for i, row in enumerate(subnet.weights)]


def _mask_row(i: int, row: Mapping[int, int], subnet: YumaSubnet, owner: int | None) -> Row:
    commit = None if subnet.commit_blocks is None else subnet.commit_blocks[i]
    kept = {
        j: whole(value)
        for j, value in sorted(row.items())
        if j < len(subnet.stake)
        and (i != j or i == owner)
        and subnet.last_update[i] > subnet.registered_at[j]
        and (commit is None or commit >= subnet.registered_at[j])
    }
    total = sum(kept.values())
    return {j: divide(value, total) for j, value in kept.items()} if total > 0 else kept


def _find_consensus(weights: Matrix, voting: Sequence[int], kappa: int) -> list[int]:
    voters = [i for i, power in enumerate(voting) if power > 0]
    powers = normalise([voting[i] for i in voters])
    total = sum(powers)
    return [
        _weighted_median(powers, [weights[i].get(j, 0) for i in voters], total - kappa, total)
        for j in range(len(voting))
    ]


def _weighted_median(powers: Sequence[int], scores: Sequence[int], minority: int, total: int) -> int:
    """The score at which the voters' majority stands, by the chain's own pivoting routine."""
    group = list(range(len(powers)))
    low, high = 0, total
    for _ in range(len(powers) + 1):
        if len(group) < 2:
            return scores[group[0]] if group else 0
        pivot = scores[group[len(group) // 2]]
        below = [i for i in group if scores[i] < pivot]
        above = [i for i in group if scores[i] > pivot]
        lower, upper = sum(powers[i] for i in below), sum(powers[i] for i in above)
        if minority < low + lower and below:
            group, high = below, low + lower
        elif high - upper <= minority and above:
            group, low = above, high - upper
        else:
            return pivot
    return 0


def _clip(row: Row, consensus: Sequence[int]) -> Row:
    """No weight above consensus; what consensus puts at 0 is dropped."""
    return {j: min(value, consensus[j]) for j, value in row.items() if value <= consensus[j] or consensus[j] != 0}


def _penalise(weights: Matrix, clipped: Matrix, penalty: int) -> Matrix:
    """Weights moved towards their clipped value by the bonds penalty."""
    if penalty == 0:
        return weights
    if penalty == ONE:
        return clipped
    moved: Matrix = []
    for free, held in zip(weights, clipped, strict=True):
        row = {
            j: free.get(j, 0) + multiply(penalty, held.get(j, 0) - free.get(j, 0))
            for j in sorted(free.keys() | held.keys())
        }
        moved.append({j: value for j, value in row.items() if value > 0})
    return moved


def _old_bonds(subnet: YumaSubnet, tempo: int, yuma3: bool) -> Matrix:
    """Stored bonds without those towards uids that were registered since the last epoch."""
    last = max(0, subnet.block - tempo) if not subnet.last_step_block else subnet.last_step_block + 1
    return [
        {
            j: ratio(value) if yuma3 else whole(value)
            for j, value in sorted(row.items())
            if j < len(subnet.stake) and last > subnet.registered_at[j]
        }
        for row in subnet.bonds
    ]


def _trade_bonds(subnet: YumaSubnet, params: YumaParams, penalised: Matrix, voting: Sequence[int]) -> Matrix:
    """Yuma 2: shares of each miner bought with stake, averaged with the shares held before."""
    old = _scale_columns(_old_bonds(subnet, params.tempo, yuma3=False), sum)
    bought = [{j: multiply(value, voting[i]) for j, value in row.items()} for i, row in enumerate(penalised)]
    fresh, rate = _scale_columns(bought, sum), _bond_rate(params)
    return _scale_columns([_blend(new, before, rate) for new, before in zip(fresh, old, strict=True)], sum)


def _hold_bonds(subnet: YumaSubnet, params: YumaParams, penalised: Matrix, consensus: Sequence[int]) -> Matrix:
    """Yuma 3: bonds follow weights directly, at one rate or (liquid alpha) each at its own."""
    old, rate = _old_bonds(subnet, params.tempo, yuma3=True), _bond_rate(params)
    both = zip(penalised, old, strict=True)
    if params.liquid_alpha and any(consensus):
        return [_blend_liquid(new, before, consensus, params) for new, before in both]
    return [_blend(new, before, rate) for new, before in both]


def _pay_yuma2(held: Matrix, incentive: Sequence[int]) -> list[int]:
    return normalise([sum(multiply(incentive[j], value) for j, value in row.items()) for row in held])


def _pay_yuma3(held: Matrix, voting: Sequence[int], incentive: Sequence[int]) -> list[int]:
    shared = _scale_columns(held, sum)
    earned = [sum(multiply(value, incentive[j]) for j, value in row.items()) for row in shared]
    return normalise([multiply(value, voting[i]) for i, value in enumerate(earned)])


def _bond_rate(params: YumaParams) -> int:
    return ONE - params.bonds_moving_average * ONE // 1_000_000


def _blend(new: Row, old: Row, rate: int) -> Row:
    """The moving average of two rows."""
    row = {
        j: multiply(rate, new.get(j, 0)) + multiply(ONE - rate, old.get(j, 0)) for j in sorted(new.keys() | old.keys())
    }
    return {j: value for j, value in row.items() if value > 0}


def _blend_liquid(new: Row, old: Row, consensus: Sequence[int], params: YumaParams) -> Row:
    """The moving average at a rate of each entry's own; a bond without a current weight vanishes."""
    low, high = ratio(params.alpha_low), ratio(params.alpha_high)
    slope = divide(whole(params.alpha_steepness), whole(-100))
    row: Row = {}
    for j, weight in new.items():
        bond = old.get(j, 0)
        apart = weight - consensus[j] if weight >= bond else bond - weight
        power = exponential(multiply(slope, max(0, min(ONE, apart)) - HALF))
        steep = divide(ONE, ONE + power)
        rate = max(low, min(high, low + multiply(steep, high - low)))
        value = min(ONE, multiply(ONE - rate, bond) + multiply(rate, weight))
        if value > 0:
            row[j] = value
    return row


def _scale_columns(matrix: Matrix, measure: Callable[[list[int]], int]) -> Matrix:
    """Each entry divided by the sum (or the largest) of its column."""
    columns: dict[int, list[int]] = {}
    for row in matrix:
        for j, value in row.items():
            columns.setdefault(j, []).append(value)
    sizes = {j: measure(values) for j, values in columns.items()}
    return [{j: divide(value, sizes[j]) if sizes[j] else value for j, value in row.items()} for row in matrix]


def _store_bonds(new: Row, stored: Mapping[int, int], permit: bool, had_permit: bool) -> Row:
    if permit:
        return {j: to_share(value) for j, value in new.items()}
    return {} if had_permit else dict(stored)


def share_emission(
    emission: int,
    incentive: Sequence[int],
    dividends: Sequence[int],
    voting: Sequence[int],
    stake: Sequence[int],
) -> tuple[list[int], list[int]]:
    total = sum(incentive) + sum(dividends)
    servers = [divide(value, total) for value in incentive]
    validators = [divide(value, total) for value in dividends]
    if total == 0:
        validators = list(voting if any(voting) else stake)
    return [share * emission >> 32 for share in servers], [share * emission >> 32 for share in validators]
