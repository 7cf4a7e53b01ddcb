"""The pure stages of spec § 7, as vector files call them: plain JSON in, plain JSON out."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.numbers import is_number
from weighbeam.core.quantise import MILLION, unit_millionths
from weighbeam.mechanism.records import Stage
from weighbeam.mechanisms.novelty.compare import read_text
from weighbeam.mechanisms.novelty.facts import parse_facts, value_contribution
from weighbeam.mechanisms.novelty.identity import digest_form, normalise_embedded
from weighbeam.mechanisms.novelty.measure import MeasuredText, find_refusal, read_embedded
from weighbeam.mechanisms.novelty.order import Contribution, OrderedContribution, order_contributions
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausibility import TextLook
from weighbeam.mechanisms.novelty.reward import fitted_units, parse_similarity, reward_units

UNSEEN = TextLook(0, 0, 0, 0, 0, 0, 0, 0)
"""How texts look is given here, as `plausible`."""


def reward_stage(given: Mapping[str, Any]) -> dict[str, Any]:
    """`params.curve = "fitted"` shows the seed's other curve; no parameter of the mechanism can pay by it."""
    named = dict(given.get("params") or {})
    curve = named.pop("curve", "exponential")
    require(curve in ("exponential", "fitted"), "bad_params", f"no curve is called {curve!r}", "exponential or fitted")
    params = _parse_params(named)
    micro = parse_similarity(given.get("max_similarity"))
    units = fitted_units(micro, params) if curve == "fitted" else reward_units(micro, params)
    return {"units": units, "novelty": (MILLION - micro) / MILLION}


def order_stage(given: Mapping[str, Any]) -> dict[str, Any]:
    params = _parse_params(given.get("params") or {})
    rows = given.get("contributions")
    require(isinstance(rows, list), "bad_shape", "contributions is not a list", "give a list of contributions")
    assert isinstance(rows, list)
    read = [_parse_contribution(row, params) for row in rows]
    require(len({one.id for one in read}) == len(read), "bad_shape", "an id occurs twice", "give each its own")
    require(
        len({one.measured.vectors.shape[1] for one in read if one.measured.vectors.size}) <= 1,
        "bad_shape",
        "vectors differ in size",
    )
    results = order_contributions(read, params)
    balances = {one.contributor: 0 for one in read}
    held = dict(balances)
    for result in results:
        book = held if result.judgement.status == "held" else balances
        book[result.contributor] += result.judgement.units
    return {
        "results": [_format_ordered(result) for result in results],
        "balances": balances,
        "held": held,
        "treasury": -sum(balances.values()) - sum(held.values()),
    }


def value_stage(given: Mapping[str, Any]) -> dict[str, Any]:
    """Value of recorded facts."""
    params = _parse_params(given.get("params") or {})
    try:
        facts = parse_facts(given.get("facts"))
    except (KeyError, TypeError, ValueError) as fault:
        raise WeighbeamError(
            "bad_shape", f"these are not facts: {fault!r:.80}", "see the specification of novelty"
        ) from None
    value = value_contribution(parse_similarity(given.get("max_similarity")), facts, params)
    return {
        "similarity": value.similarity / MILLION,
        "new": value.new / MILLION,
        "units": value.units,
        "charged": value.charged,
    }


def _parse_params(given: Mapping[str, Any]) -> NoveltyParams:
    try:
        return NoveltyParams(**given)
    except (ValueError, TypeError) as fault:
        raise WeighbeamError("bad_params", str(fault), "see the page 'The novelty mechanism'") from None


def _parse_contribution(row: Any, params: NoveltyParams) -> Contribution:
    named = isinstance(row, dict) and all(isinstance(row.get(name), str) for name in ("id", "contributor", "text"))
    require(named, "bad_shape", "a contribution needs id, contributor and text", "see the page 'The novelty mechanism'")
    return Contribution(
        row["id"],
        row["contributor"],
        _measure(row["text"], _parse_vectors(row.get("vectors")), params),
        row.get("plausible", True) is not False,
        find_refusal(row["text"], params) is not None,
    )


def _measure(text: str, vectors: NDArray[np.int32], params: NoveltyParams) -> MeasuredText:
    """A text whose rows are given: none of them is a sentence's."""
    read = read_text(read_embedded(normalise_embedded(text), params)) if params.wants_facts else None
    return MeasuredText(text, digest_text(text), digest_form(text), vectors, UNSEEN, (), read)


def _parse_vectors(rows: Any) -> NDArray[np.int32]:
    sound = (
        isinstance(rows, list)
        and bool(rows)
        and all(isinstance(row, list) and row and all(map(is_number, row)) for row in rows)
        and len({len(row) for row in rows}) == 1
    )
    require(sound, "bad_shape", "vectors is not a list of equally long lists of numbers", "one vector for each piece")
    return unit_millionths(np.asarray(rows, dtype=np.float64))


def _format_ordered(result: OrderedContribution) -> dict[str, Any]:
    found, refused = result.neighbour, result.judgement.status == "refused"
    return {
        "id": result.id,
        "status": result.judgement.status,
        "max_similarity": None if refused or found is None else found.micro / MILLION,
        "nearest": None if refused or found is None else found.id,
        "units": result.judgement.units,
    }


STAGES: dict[str, Stage] = {
    "novelty.reward": reward_stage,
    "novelty.order": order_stage,
    "novelty.value": value_stage,
}
