"""Why a contributor earned what it earned, in lines a person can check."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from fractions import Fraction

from weighbeam.core.quantise import MILLION
from weighbeam.core.stats import parse_decimal
from weighbeam.mechanism.records import Node, Observation, Scored
from weighbeam.mechanisms.novelty.events import NoveltyEvent
from weighbeam.mechanisms.novelty.facts import (
    NoveltyFacts,
    Valuation,
    find_kin_cut,
    find_move,
    share_letters,
    share_words,
)
from weighbeam.mechanisms.novelty.observe import parse_events
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import Judgement

DOUBTS = {
    "word_salad": "more than 3 word pieces per word",
    "few_letters": "fewer than half of its characters are letters",
    "repetition": "one word piece makes up more than 40 % of it",
    "unreadable": "more than a tenth of it are characters the embedder does not know",
    "not_prose": "it does not read as connected language",
}


def explain_contributor(params: NoveltyParams, observation: Observation, scored: Scored, hotkey: str) -> Node:
    score = next(one for one in scored.scores if one.hotkey == hotkey)
    row = next(one for one in observation.facts["contributors"] if one["hotkey"] == hotkey)
    if score.value is None:
        why = ", ".join(row["refused"]) or "before it was read"
        return Node(f"{hotkey}: unscored, a fault of the validator: {why}")
    lines = [explain_event(event, event.judge(params), params) for event in parse_events(row["events"])]
    lines += [Node(f"refused: {code}") for code in row["refused"]]
    if row["status"] != "ok":
        lines.append(Node(f"no contribution could be read: {row['status']}"))
    return Node(f"{hotkey}: {format_tokens(int(score.value), params)} tokens earned", tuple(lines))


def explain_event(event: NoveltyEvent, judged: Judgement, params: NoveltyParams) -> Node:
    """One contribution: how near what was nearest, what the curve pays for that, and what became of it."""
    head = f"{event.id}: {judged.status}, {format_tokens(judged.units, params)} tokens"
    if event.duplicate:
        return Node(head, (Node(f"the same text as {event.nearest}, whatever its case, spacing or spelling"),))
    value = event.value(params)
    return Node(head, explain_similarity(event.similarity, event.nearest, event.doubts, params, event.facts, value))


def explain_similarity(
    micro: int,
    nearest: str | int | None,
    doubts: Sequence[str],
    params: NoveltyParams,
    facts: NoveltyFacts | None = None,
    value: Valuation | None = None,
) -> tuple[Node, ...]:
    """How near the nearest is, how that reads, what it pays, and what speaks against the text."""
    near = "nothing came before it" if nearest is None else f"nearest is {nearest}"
    told = tuple(Node(f"implausible: {DOUBTS[doubt]}") for doubt in doubts)
    if facts is None or value is None:
        return (Node(f"similarity {micro / MILLION:.6f}: {near}"), _explain_curve(micro, params), *told)
    head = Node(
        f"cosine {micro / MILLION:.6f}: {near}", (*_explain_looks(facts), *_explain_entailment(facts, nearest, params))
    )
    scaled = Node(f"reads as similarity {value.similarity / MILLION:.6f} among {facts.rows} pieces")
    parts = _explain_parts(facts, value, params)
    return (head, scaled, _explain_curve(value.similarity, params), *parts, *told)


def _explain_looks(facts: NoveltyFacts) -> Iterator[Node]:
    """Each text that was compared, with the shares that count."""
    for look in facts.looks:
        one = look.compared
        if one is None:
            yield Node(f"{look.id}: cosine {look.micro / MILLION:.6f}; its text was withdrawn")
            continue
        said = f"{float(share_words(one)):.2f} of the words and {float(share_letters(one)):.2f} of the letters in order"
        shared = f"{one.content} of {one.all_content} content words shared"
        other = ", other numbers" if one.numbers and one.known_numbers else ""
        swapped = ", words exchanged" if one.exchanged else ""
        yield Node(f"{look.id}: cosine {look.micro / MILLION:.6f}, {said}, {shared}{other}{swapped}")


def _explain_entailment(facts: NoveltyFacts, nearest: str | int | None, params: NoveltyParams) -> Iterator[Node]:
    """Explain the entailment, if it was asked."""
    if facts.entailed is None or not params.wants_entailment:
        return
    new, known = (each / MILLION for each in facts.entailed)
    moved = {1: "each follows from the other", -1: "neither follows from the other", 0: "which decides nothing"}
    side = (move := find_move(facts)) and (1 if move > 0 else -1)
    yield Node(f"it follows from {nearest} by {new:.2f}, and that from it by {known:.2f}: {moved[side]}")


def _explain_parts(facts: NoveltyFacts, value: Valuation, params: NoveltyParams) -> Iterator[Node]:
    if params.parts and facts.letters:
        share = facts.known / facts.letters
        yield Node(f"{share:.0%} of its letters are in known runs: {value.new / MILLION:.6g} of it counts as new")
    if params.parts and facts.sentences:
        each = ", ".join(f"{micro / MILLION:.3f}" for _, micro in facts.sentences)
        yield Node(
            f"its {len(facts.sentences)} sentences have cosines of {each}: each is paid by its share of the words"
        )
    spent = value.charged - value.units
    if spent:
        kin = ", ".join(one.id for one in facts.kin if one.micro >= find_kin_cut(facts.own, params))
        yield Node(
            f"it belongs to {kin} of the same contributor: {format_tokens(spent, params)} tokens of one cap are spent"
        )


def _explain_curve(micro: int, params: NoveltyParams) -> Node:
    similarity = micro / MILLION
    if Fraction(micro, MILLION) > parse_decimal(params.reference_similarity):
        return Node(f"{similarity:.6f} is above {params.reference_similarity:g}: nothing is paid")
    power = (params.reference_similarity - similarity) / params.similarity_step
    told = f"{params.min_reward:g} × {params.reward_factor:g}^{power:.6g}"
    return Node(f"{told}, at most {params.max_reward:g}")


def format_tokens(units: int, params: NoveltyParams) -> str:
    """Units as tokens, every digit.

    >>> format_tokens(100_000_000, NoveltyParams()), format_tokens(10_000_461, NoveltyParams())
    ('0.1', '0.010000461')
    """
    value = Decimal(units) / Decimal(params.base_units)
    return f"{value.normalize():f}" if value else "0"
