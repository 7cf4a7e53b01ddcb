"""The pure stages of spec § 17, as vector files call them: plain JSON in, plain JSON out."""

from collections.abc import Mapping
from typing import Any

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_integer
from weighbeam.core.quantise import MILLION
from weighbeam.mechanisms.chunking.retrieval.borders import measure_borders
from weighbeam.mechanisms.chunking.retrieval.measure import RankedChunking, average_early, average_figures, parse_spans

Input = Mapping[str, Any]


def retrieval_stage(given: Input) -> dict[str, Any]:
    chunks, questions = given.get("chunks"), given.get("questions")
    require(isinstance(chunks, list) and bool(chunks) and all(map(_is_place, chunks)), "bad_chunks")
    require(isinstance(questions, list) and bool(questions), "bad_questions")
    assert isinstance(chunks, list)
    assert isinstance(questions, list)
    require(all(_is_question(question, len(chunks)) for question in questions), "bad_questions")
    depths, budget, costs = given.get("k", []), given.get("budget"), given.get("costs")
    require(isinstance(depths, list) and all(is_integer(k, 1) for k in depths), "bad_k")
    require(budget is None or is_integer(budget, 1), "bad_budget")
    places = parse_spans(chunks)
    costs = [0 if place is None else place[1] - place[0] for place in places] if costs is None else costs
    fits = isinstance(costs, list) and len(costs) == len(chunks) and all(is_integer(cost, 0) for cost in costs)
    require(fits, "bad_costs")
    gold = [[(start, end) for start, end in question["spans"]] for question in questions]
    ranked = RankedChunking.rank(places, [question["similarities"] for question in questions])
    at = [{"k": k, **average_figures(ranked.measure_first(gold, k)).as_json()} for k in depths]
    within = None if budget is None else average_figures(ranked.measure_within(gold, costs, budget)).as_json()
    early = None if budget is None else average_early(ranked.measure_early(gold, costs, budget))
    return {"early": early, "rankings": [list(order) for order in ranked.rankings], "at": at, "within": within}


def borders_stage(given: Input) -> dict[str, Any]:
    borders, chunks, length = given.get("borders"), given.get("chunks"), given.get("length")
    require(isinstance(chunks, list) and bool(chunks) and all(map(_is_place, chunks)), "bad_chunks")
    require(is_integer(length, 1), "bad_length")
    assert isinstance(chunks, list)
    assert isinstance(length, int)
    inside = isinstance(borders, list) and all(is_integer(at, 1) and at < length for at in borders)
    require(inside and sorted(set(borders or [])) == borders, "bad_borders")
    return measure_borders(borders or [], parse_spans(chunks), length).as_json()


def _is_place(value: Any) -> bool:
    return value is None or _is_span(value)


def _is_span(value: Any) -> bool:
    is_pair = isinstance(value, list) and len(value) == 2 and all(is_integer(end, 0) for end in value)
    return is_pair and value[0] < value[1]


def _is_question(value: Any, chunks: int) -> bool:
    if not isinstance(value, Mapping):
        return False
    spans, similarities = value.get("spans"), value.get("similarities")
    has_spans = isinstance(spans, list) and bool(spans) and all(map(_is_span, spans))
    is_row = isinstance(similarities, list) and len(similarities) == chunks
    return has_spans and is_row and all(is_integer(one, -MILLION) and one <= MILLION for one in similarities or ())
