"""Stage `novelty.value` again, from docs/spec/novelty.md § 3a alone: exact numbers, no code of the package."""

from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from mechanisms.novelty.naive_order import DEFAULTS, pay

CONTEXT = Context(prec=40)
NEW: dict[str, Any] = {
    "scale": "minilm-2: 0.6975 0.12 0.6725 0.75 4",
    "second_look": True,
    "entailment": True,
    "parts": True,
    "kin_similarity": 0.25,
}


def value(given: dict[str, Any]) -> dict[str, Any]:
    params = {**DEFAULTS, **NEW, **given.get("params", {})}
    micro = round(Fraction(str(given["max_similarity"])) * 10**6)
    facts = given.get("facts")
    if facts is None:
        units = pay(micro, params)
        return {"similarity": micro / 10**6, "new": 1.0, "units": units, "charged": units}
    cut = find_cut(params["scale"], facts["rows"])
    seen, exchanged = look(micro, facts, cut, params["entailment"]) if params["second_look"] else (micro, False)
    similarity, new = read(seen, cut), Fraction(1)
    units = pay(similarity, params)
    if params["parts"]:
        if facts["sentences"]:
            words = sum(count for count, _ in facts["sentences"])
            units = min(
                units, round(Fraction(sum(n * pay(read(m, cut), params) for n, m in facts["sentences"]), words))
            )
        if facts["letters"] and not exchanged:
            new = max(
                Fraction(0),
                min(Fraction(1), (Fraction("0.95") - Fraction(facts["known"], facts["letters"])) / Fraction("0.45")),
            )
    units = round(units * new)
    near = Fraction(str(params["kin_similarity"])) + Fraction(CONTEXT.log10(Decimal(max(1, facts["own"])))) / 10
    spent = max([charged for _, m, charged in facts["kin"] if m >= round(near * 10**6)], default=0)
    paid = min(units, max(0, round(Fraction(str(params["max_reward"])) * params["base_units"]) - spent))
    return {
        "similarity": similarity / 10**6, "new": round(new * 10**6) / 10**6, "units": paid, "charged": spent + paid
    }  # fmt: skip


Cut = tuple[int, Fraction] | None


def find_cut(scale: str, rows: int) -> Cut:
    if scale == "identity":
        return None
    cut, rise, low, high, slope = (Fraction(one) for one in scale.partition(":")[2].split())
    decades = Fraction(CONTEXT.log10(CONTEXT.divide(Decimal(max(1, rows)), Decimal(5000))))
    return max(round(low * 10**6), min(round(high * 10**6), round(cut * 10**6) + round(decades * rise * 10**6))), slope


def read(micro: int, cut: Cut) -> int:
    if cut is None:
        return micro
    if micro < cut[0]:
        return max(-(10**6), round(Fraction(micro * 750_000, cut[0])))
    return min(10**6, 750_000 + round((micro - cut[0]) * cut[1]))


def look(micro: int, facts: dict[str, Any], cut: Cut, asked: bool) -> tuple[int, bool]:
    edge = 750_000 if cut is None else cut[0]
    limit = 800_000 if cut is None else edge + int(50_000 / cut[1])
    shares = [Fraction(one["compared"]["content"], max(1, one["compared"]["all_content"])) for one in facts["looks"]]
    best, decided = -(10**6), False
    both = sum(facts.get("entailed") or (500_000, 500_000))
    for place, (one, share) in enumerate(zip(facts["looks"], shares, strict=True)):
        c, seen = one["compared"], Fraction(one["micro"])
        words = Fraction(2 * c["words_in_order"], max(1, c["words"] + c["known_words"]))
        letters = Fraction(2 * c["letters_in_order"], max(1, c["letters"] + c["known_letters"]))
        length = Fraction(max(0, min(12, c["words"], c["known_words"]) - 7), 5)
        lexical = min(Fraction(1), Fraction("0.35") + Fraction("0.35") * words + Fraction("0.5") * letters)
        seen = Fraction(round(seen + Fraction("0.3") * length * (lexical * 10**6 - seen)))
        if c["numbers"] and c["known_numbers"] and share > Fraction("0.3"):
            seen = max(min(seen, Fraction(limit)), seen - 200_000)
        if asked and place == 0:
            seen += 70_000 if both > 10**6 else -80_000 if both < 150_000 else 0
        swapped = c["exchanged"] and share >= Fraction("0.8") and sum(s >= Fraction("0.8") for s in shares) == 1
        swapped = swapped and not facts["sentences"]
        if swapped:
            seen = min(seen, Fraction(limit))
        elif (
            min(c["letters"], c["known_letters"]) >= 12
            and letters >= Fraction("0.78")
            and letters - words >= Fraction("0.1" if letters >= Fraction("0.95") else "0.2")
        ):
            seen = max(
                seen,
                Fraction(
                    round(edge + min(Fraction(1), (letters - Fraction("0.78")) / Fraction("0.1")) * (10**6 - edge))
                ),
            )
        if facts["sentences"] and c["known_words"] < Fraction("0.6") * c["words"]:
            seen = min(seen, Fraction(edge))
        if seen > best:
            best, decided = int(seen), swapped
    return (best, decided) if facts["looks"] else (micro, False)
