"""Advice to an evidence miner from the parts of its scores: rejections, repeated domains, time, copying."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from weighbeam.mechanism.advice import average, choose_advice, count, find_typical, measure_gap, shown
from weighbeam.mechanism.records import Advice, Score, ScorePair
from weighbeam.mechanisms.evidence.judge.response import recompute_value
from weighbeam.mechanisms.evidence.reasons import MEANINGS

WHOLE = ("unreachable_miner", "invalid_response", "no_statements")
NOT_REJECTED = (*WHOLE, "duplicate_statements", "partly_copied")
Parts = Mapping[str, Any]


def advise_finder(pairs: Sequence[ScorePair]) -> tuple[Advice, ...]:
    judged = [(own, best) for own, best in pairs if own.parts is not None]
    found = [*_advise_whole(judged), *_advise_copies(judged)]
    found += [*_advise_rejected(judged), *_advise_domains(judged), *_advise_speed(judged), *_advise_quotes(judged)]
    return choose_advice(found, measure_gap(judged))


def _advise_whole(pairs: Sequence[ScorePair]) -> list[Advice]:
    """Answers that came to nothing as a whole."""
    found, typical = [], max(0.0, find_typical(pairs))
    for code in WHOLE:
        hit = [own for own, _ in pairs if code in own.reasons]
        gain = sum(typical - (own.value or 0.0) for own in hit) / max(1, len(pairs))
        text = f"{count(hit, pairs)} came to {code}: {MEANINGS[code]} That cost {shown(gain)} per round"
        found.append(Advice(f"Do not fail as {code}", text, gain))
    return found


def _advise_copies(pairs: Sequence[ScorePair]) -> list[Advice]:
    """Value of copied quotes, had the miner sent them first."""
    hit = [own for own, _ in pairs if own.parts and (own.parts["copy_of"] is not None or _list_copied(own))]
    gain = sum(_gain_uncopied(own) for own in hit) / max(1, len(pairs))
    text = (
        f"{count(hit, pairs)} repeated quotes that are paid to their first sender{_name_copied(hit)}, which cost "
        f"{shown(gain)} per round"
    )
    return [Advice("Find evidence of your own", text, gain)]


def _name_copied(hit: Sequence[Score]) -> str:
    """Which of one's own snippets the first copied one is. Whose it was, only an explanation tells: advice names
    nobody."""
    for own in hit:
        for number, row in enumerate(_list_counted(own), 1):
            if (source := row.get("copy_of")) is not None:
                return f" (your snippet {number} was snippet {source['snippet']} of theirs; `explain` names the miner)"
    return ""


def _advise_rejected(pairs: Sequence[ScorePair]) -> list[Advice]:
    """Without its rejected snippets an answer keeps the rest; where nothing is left, it has to find something."""
    hit = [own for own, _ in pairs if any(score < 0 for score in _list_scores(own))]
    typical = max(0.0, find_typical(pairs))
    gain = sum(_gain_without_rejected(own, typical) for own in hit) / max(1, len(pairs))
    codes = Counter(code for own in hit for code in own.reasons if code in MEANINGS and code not in NOT_REJECTED)
    if not codes:
        return []
    named = ", ".join(f"{code} in {times}" for code, times in codes.most_common(3))
    rejected = sum(score < 0 for own in hit for score in _list_scores(own))
    meaning = MEANINGS[codes.most_common(1)[0][0]]
    text = (
        f"{rejected} snippets of your last {len(pairs)} answers cost points ({named}). {meaning} "
        f"Leaving such snippets out, and finding sound ones where none is left, would bring {shown(gain)} per round"
    )
    return [Advice("Check snippets before you send them", text, gain)]


def _gain_without_rejected(own: Score, typical: float) -> float:
    """Gain from leaving out rejected snippets; if none is left, that of a typical answer, since an empty list fails."""
    scores = _list_scores(own)
    if own.parts is not None and not _is_copy(own.parts) and all(score < 0 for score in scores):
        return typical - (own.value or 0.0)
    return _change_sum(own, -sum(min(0.0, one) for one in scores))


def _advise_domains(pairs: Sequence[ScorePair]) -> list[Advice]:
    """The second snippet of a domain counts half, the third a quarter."""
    rows = [(own, [row for row in _list_counted(own) if (row["domain_factor"] or 1.0) < 1.0]) for own, _ in pairs]
    repeats = sum(len(repeated) for _, repeated in rows)
    more = [(own, sum(row["score"] / row["domain_factor"] - row["score"] for row in some)) for own, some in rows]
    gain = sum(_change_sum(own, lost) for own, lost in more if lost) / max(1, len(pairs))
    text = (
        f"{repeats} accepted snippets came from a domain you had cited in the same answer and counted half or less; "
        f"as many from other domains would bring {shown(gain)} per round"
    )
    return [Advice("Cite different domains", text, gain)]


def _advise_speed(pairs: Sequence[ScorePair]) -> list[Advice]:
    both = [
        (own, own.parts, best.parts)
        for own, best in pairs
        if own.status == "valid" and own.parts and best is not None and best.parts and own.parts["sum"] > 0
    ]
    gain = sum(_raise_speed(mine, theirs["speed"]) for _, mine, theirs in both) / max(1, len(pairs))
    speeds = [average([mine["speed"] for _, mine, _ in both]), average([theirs["speed"] for _, _, theirs in both])]
    text = (
        f"Your speed counted ×{speeds[0]:.2f} on average and that of the best ×{speeds[1]:.2f}; answering as soon "
        f"would bring {shown(gain)} per round"
    )
    return [Advice("Answer sooner", text, gain)]


def _advise_quotes(pairs: Sequence[ScorePair]) -> list[Advice]:
    """More or clearer quotes: the sum of accepted snippets against that of the best, at one's own speed."""
    both = [(own, best) for own, best in pairs if own.status == "valid" and best is not None and best.parts]
    sides = [[_list_accepted(pair[side]) for pair in both] for side in (0, 1)]
    gain = sum(max(0.0, sum(b) - sum(a)) * _get_speed(own) for (own, _), a, b in zip(both, *sides, strict=True))
    counts = [average([float(len(rows)) for rows in side]) for side in sides]
    means = [average([score for rows in side for score in rows]) for side in sides]
    gain /= max(1, len(pairs))
    text = (
        f"You had {counts[0]:.1f} snippets accepted per answer with {means[0]:.2f} points each, the best "
        f"{counts[1]:.1f} with {means[1]:.2f}: quote sentences that clearly support or refute the statement, from "
        f"approved domains where you can; that would bring {shown(gain)} per round"
    )
    return [Advice("Quote clearer evidence", text, gain)]


def _list_counted(own: Score) -> list[Parts]:
    return [row for row in (own.parts or {}).get("snippets", ()) if row["counted"]]


def _list_copied(own: Score) -> list[Parts]:
    return [row for row in _list_counted(own) if row.get("copy_of") is not None]


def _gain_uncopied(own: Score) -> float:
    parts = own.parts or {}
    lost = sum(float(row["lost"]) for row in _list_copied(own))
    return recompute_value({**parts, "sum": parts["sum"] + lost}) - (own.value or 0.0)


def _is_copy(parts: Parts) -> bool:
    """Whether the answer as a whole is a copy and not each of its snippets: then no change of the sum pays."""
    return parts["copy_of"] is not None and not any(row.get("copy_of") for row in parts["snippets"])


def _list_scores(own: Score) -> list[float]:
    return [row["score"] for row in _list_counted(own)]


def _list_accepted(own: Score | None) -> list[float]:
    return [] if own is None else [row["score"] for row in _list_counted(own) if row["domain_factor"] is not None]


def _get_speed(own: Score) -> float:
    return float((own.parts or {"speed": 1.0})["speed"])


def _change_sum(own: Score, more: float) -> float:
    """Gain of an answer from a larger sum; an answer that is a copy as a whole gains nothing."""
    parts = own.parts or {}
    if _is_copy(parts):
        return 0.0
    return recompute_value({**parts, "sum": parts["sum"] + more}) - recompute_value(parts)


def _raise_speed(parts: Parts, speed: float) -> float:
    return recompute_value({**parts, "speed": max(parts["speed"], speed)}) - recompute_value(parts)
