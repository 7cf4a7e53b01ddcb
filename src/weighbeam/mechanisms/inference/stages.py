"""The pure stages of spec § 16, as vector files call them: plain JSON in, plain JSON out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from weighbeam.core.errors import require
from weighbeam.core.numbers import is_integer, is_number
from weighbeam.mechanism.records import Stage
from weighbeam.mechanisms.inference.agreement.consensus import measure_consensus
from weighbeam.mechanisms.inference.agreement.filter import FilteredAnswers, ReceivedAnswers, filter_answers
from weighbeam.mechanisms.inference.emissions import AnswerPayee, pay_answers
from weighbeam.mechanisms.inference.judge import format_judged, judge_round
from weighbeam.mechanisms.inference.kind_stages import agreement_stage, kind_quality_stage, traits_stage
from weighbeam.mechanisms.inference.parse import (
    Input,
    check_unique,
    parse_cosines,
    parse_given,
    parse_matrix,
    parse_params,
    parse_polarity,
    parse_rows,
)
from weighbeam.mechanisms.inference.reference.kinds import parse_reference
from weighbeam.mechanisms.inference.reference.read import read_answer
from weighbeam.mechanisms.inference.reference.record import begin_record, move_record
from weighbeam.mechanisms.inference.reference.truth import judge_reading
from weighbeam.mechanisms.inference.text.counts import ParsedText, count_text
from weighbeam.mechanisms.inference.text.quality import judge_quality


def quality_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    require(isinstance(given.get("text"), str) and isinstance(given.get("prompt", ""), str), "bad_shape")
    text = ParsedText(given["text"])
    cosines = parse_cosines(given, len(text.sentences))
    counts = count_text(text, ParsedText(given.get("prompt", "")))
    prose = given.get("prose", True) is not False
    return judge_quality(counts, cosines, prose, params.quality_threshold).as_json()


def filter_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    rows = parse_rows(given, "answers")
    require(all(is_number(row.get("quality")) and is_integer(row.get("words"), 0) for row in rows), "bad_shape")
    order = sorted(range(len(rows)), key=lambda i: rows[i]["hotkey"])
    similarity = parse_matrix(given.get("similarity"), len(rows), order)
    overlap = None if given.get("overlap") is None else parse_matrix(given["overlap"], len(rows), order)
    check_unique(rows)
    rows = [rows[i] for i in order]
    received = ReceivedAnswers(
        hotkeys=tuple(row["hotkey"] for row in rows),
        quality=np.array([row["quality"] for row in rows], dtype=np.float64),
        words=np.array([row["words"] for row in rows], dtype=np.int64),
        entities=tuple(row.get("entity") for row in rows),
        similarity=similarity,
        overlap=overlap,
    )
    return _format_filtered(received, filter_answers(received, params))


def _format_filtered(received: ReceivedAnswers, filtered: FilteredAnswers) -> dict[str, Any]:
    hotkeys = received.hotkeys
    heard = np.flatnonzero(~filtered.flagged).tolist()
    return {
        "flagged": received.name(np.flatnonzero(filtered.flagged)),
        "groups": [received.name(group) for group in filtered.list_groups()],
        "voices": {hotkeys[i]: hotkeys[filtered.voice[i]] for i in heard},
        "vote": {hotkeys[i]: float(filtered.vote[i]) for i in heard},
        "pay": {hotkeys[i]: float(filtered.pay[i]) for i in heard},
        "lof": {hotkeys[i]: value for i, value in filtered.lof.items()},
        "outliers": received.name(np.flatnonzero(filtered.outlier)),
        "min_words": filtered.min_words,
        "short": received.name(np.flatnonzero(filtered.short)),
        "kept": received.name(np.flatnonzero(filtered.kept)),
        "clusters": [received.name(cluster) for cluster in filtered.clusters],
        "dominant": received.name(filtered.dominant),
    }


def consensus_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    rows = parse_rows(given, "members")
    require(all(is_number(row.get("quality")) and is_number(row.get("vote")) for row in rows), "bad_shape")
    order = sorted(range(len(rows)), key=lambda i: rows[i]["hotkey"])
    similarity = parse_matrix(given.get("similarity"), len(rows), order)
    check_unique(rows)
    rows = [rows[i] for i in order]
    voices = [str(row.get("voice", row["hotkey"])) for row in rows]
    numbers = {voice: number for number, voice in enumerate(dict.fromkeys(voices))}
    found = measure_consensus(
        similarity,
        np.array([row["quality"] for row in rows], dtype=np.float64),
        np.array([row["vote"] for row in rows], dtype=np.float64),
        np.array([numbers[voice] for voice in voices], dtype=np.intp),
        [parse_polarity(row.get("polarity")) for row in rows],
        given.get("cluster", True) is not False,
        params,
    )
    return {
        "mu": found.mu,
        "sigma": found.sigma,
        "consensus_score": found.score,
        "agreement": found.agreement,
        "achieved": found.achieved,
        "in_consensus": [rows[i]["hotkey"] for i in found.inside],
        "contradicting": [rows[i]["hotkey"] for i in found.contradicting],
        "pool": found.pool,
    }


def emissions_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    rows = parse_rows(given, "answers")
    require(is_number(given.get("pool")) and all(is_number(row.get("score")) for row in rows), "bad_shape")
    check_unique(rows)
    rows = sorted(rows, key=lambda row: str(row["hotkey"]))
    payees = [
        AnswerPayee(
            hotkey=row["hotkey"],
            score=float(row["score"]),
            seconds=row.get("seconds"),
            member=bool(row.get("in_consensus", False)),
            pay=float(row.get("pay", 1.0)),
            group=str(row.get("group", row["hotkey"])),
        )
        for row in rows
        if not row.get("flagged", False)
    ]
    paid = pay_answers(payees, float(given["pool"]), bool(given.get("achieved", False)), params)
    return {
        "emissions": {row["hotkey"]: paid.emissions.get(row["hotkey"], 0.0) for row in rows},
        "speed": {row["hotkey"]: paid.speed.get(row["hotkey"]) for row in rows},
        "bonus": paid.bonus,
        "top": list(paid.top),
    }


def score_stage(given: Input) -> dict[str, Any]:
    params = parse_params(given)
    read = parse_given(given, params)
    return format_judged(read, judge_round(read, params))


def truth_stage(given: Input) -> dict[str, Any]:
    """Reading of a text, and whether it is right."""
    reference = parse_reference(given.get("reference"))
    require(isinstance(given.get("text"), str) and reference.kind != "text", "bad_shape")
    reading = read_answer(reference, given["text"])
    return {"read": reading, "truth": judge_reading(reference, reading)}


def record_stage(given: Input) -> dict[str, Any]:
    """A miner's truth after some reference rounds."""
    params, found = parse_params(given), given.get("truth")
    require(isinstance(found, list) and all(is_number(one, 0) and one <= 1 for one in found), "bad_shape")
    assert isinstance(found, list)
    record = begin_record(params)
    for one in found:
        record = move_record(record, float(one), params)
    return record


STAGES: Mapping[str, Stage] = {
    "inference.quality": quality_stage,
    "inference.traits": traits_stage,
    "inference.kind_quality": kind_quality_stage,
    "inference.agreement": agreement_stage,
    "inference.filter": filter_stage,
    "inference.consensus": consensus_stage,
    "inference.emissions": emissions_stage,
    "inference.score": score_stage,
    "inference.truth": truth_stage,
    "inference.record": record_stage,
}
