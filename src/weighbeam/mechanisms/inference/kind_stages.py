"""The pure stages of reading by kind (spec §§ 18, 19), as vector files call them."""

from typing import Any

import numpy as np

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.inference.agreement.claims import Claims, measure_agreement
from weighbeam.mechanisms.inference.parse import Input, parse_kind, parse_params, parse_shares
from weighbeam.mechanisms.inference.text.behaviour import Trials
from weighbeam.mechanisms.inference.text.counts import ParsedText
from weighbeam.mechanisms.inference.text.kind_quality import RoundTraits, judge_kind
from weighbeam.mechanisms.inference.text.kinds import find_kind
from weighbeam.mechanisms.inference.text.traits import TextTraits, find_fresh, find_traits, read_prompt


def traits_stage(given: Input) -> dict[str, Any]:
    """The kind of a round and what is counted in each text."""
    texts = given.get("texts")
    require(isinstance(texts, list) and all(isinstance(text, str) for text in texts), "bad_shape")
    require(isinstance(given.get("prompt"), str), "bad_shape")
    assert isinstance(texts, list)
    prompt, parsed = ParsedText(given["prompt"]), [ParsedText(text) for text in texts]
    kind, asked = find_kind(prompt.clean, [text.clean for text in parsed if text.words]), read_prompt(prompt)
    fresh, prose = find_fresh(parsed, asked, kind), given.get("prose", True) is not False
    traits = [find_traits(text, asked, kind, prose, place, fresh) for place, text in enumerate(parsed)]
    return {
        "kind": kind,
        "language": asked.language,
        "triples": len(asked.triples),
        "fresh": [sorted(one) for one in fresh.each],
        "traits": [one.as_json() for one in traits],
    }


def kind_quality_stage(given: Input) -> dict[str, Any]:
    """The quality of one text from what was counted in it."""
    params, kind = parse_params(given), parse_kind(given.get("kind"))
    require(all(is_number(given.get(name)) for name in ("prompt_cosine", "topic")), "bad_shape")
    require(all(is_integer(given.get(name), 0) for name in ("words", "triples", "texts")), "bad_shape")
    traits = _parse_traits(given.get("traits"))
    round_of = RoundTraits(given["triples"], given["texts"])
    cosine, topic = float(given["prompt_cosine"]), float(given["topic"])
    return judge_kind(traits, given["words"], cosine, topic, kind, round_of, params.quality_threshold).as_json()


def _parse_traits(given: object) -> TextTraits:
    """All of them, each a whole number or a truth, the language aside."""
    names = set(TextTraits.__dataclass_fields__)
    require(isinstance(given, dict) and names - {"abstains"} <= set(given) <= names, "bad_shape")
    assert isinstance(given, dict)
    require(all(isinstance(value, int) for name, value in given.items() if name != "language"), "bad_shape")
    return TextTraits.from_json(given)


def _parse_results(results: object, shown: object, size: int) -> Trials | None:
    """Parse test results of functions: only their number and the prompt's own cases matter here."""
    if results is None:
        return None
    require(isinstance(results, list) and len(results) == size, "bad_shape")
    assert isinstance(results, list)
    lengths = {len(one) if isinstance(one, list) else -1 for one in results if one is not None}
    require(len(lengths) <= 1 and -1 not in lengths, "bad_shape")
    places = shown if isinstance(shown, dict) else {}
    tried = max(lengths, default=0)
    require(all(place.isdecimal() and int(place) < tried for place in places), "bad_shape")
    return Trials("", [], {int(place): str(result) for place, result in places.items()})


def agreement_stage(given: Input) -> dict[str, Any]:
    """How far each two texts agree."""
    kind, fresh = parse_kind(given.get("kind")), given.get("fresh")
    require(isinstance(fresh, list) and all(isinstance(one, list) for one in fresh), "bad_shape")
    assert isinstance(fresh, list)
    size = len(fresh)
    order = list(range(size))
    to_prompt = given.get("prompt_cosines")
    require(isinstance(to_prompt, list) and len(to_prompt) == size and all(map(is_number, to_prompt)), "bad_shape")
    values, results = given.get("values", [None] * size), given.get("results")
    require(isinstance(values, list) and len(values) == size, "bad_shape")
    contradiction, denied = given.get("contradiction"), given.get("denied")
    require(
        denied is None or (isinstance(denied, list) and len(denied) == size and all(map(is_number, denied))),
        "bad_shape",
    )
    heard = given.get("heard", [True] * size)
    require(isinstance(heard, list) and len(heard) == size, "bad_shape")
    said = given.get("said", [])
    require(
        isinstance(said, list) and len(said) in (0, size) and all(isinstance(one, list) for one in said), "bad_shape"
    )
    require(all(isinstance(part, list) for one in said for part in one), "bad_shape")
    claims = Claims(
        kind=kind,
        heard=[one is not False for one in heard],
        fresh=[frozenset(map(str, one)) for one in fresh],
        cosines=parse_shares(given.get("cosines"), size, order),
        to_prompt=np.array(to_prompt, dtype=np.float64),
        support=parse_shares(given.get("support"), size, order),
        values=values,
        trials=_parse_results(results, given.get("shown"), size),
        results=results or [],
        contradiction=None if contradiction is None else parse_shares(contradiction, size, order),
        said=[[frozenset(map(str, part)) for part in one] for one in said],
        denied=None if denied is None else np.clip(np.array(denied, dtype=np.float64), 0.0, 1.0),
    )
    return {"agreement": (measure_agreement(claims) / MILLION).tolist()}
