"""Stage `novelty.order` again, from docs/spec/novelty.md alone: exact numbers, plain loops, no code of the package."""

import unicodedata
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

CONTEXT = Context(prec=90)
DEFAULTS: dict[str, Any] = {
    "reference_similarity": 0.95,
    "min_reward": 0.01,
    "reward_factor": 10,
    "similarity_step": 0.05,
    "max_reward": 100,
    "base_units": 1_000_000_000,
    "min_words": 3,
    "max_chars": 20_000,
    "gate": "hold",
}


def order(given: dict[str, Any]) -> dict[str, Any]:
    params = {**DEFAULTS, **given.get("params", {})}
    forms: dict[str, str] = {}
    rows: list[tuple[str, list[int]]] = []
    names = [one["contributor"] for one in given["contributions"]]
    balances, held = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    results = []
    for one in given["contributions"]:
        form, vectors = write_form(one["text"]), [quantise(vector) for vector in one["vectors"]]
        near: tuple[str, int] | None = None
        units = 0
        if is_refused(one["text"], params):
            status = "refused"
        elif form in forms:
            status, near = "duplicate", (forms[form], 1_000_000)
        else:
            near = find_nearest(rows, vectors)
            doubted = not one.get("plausible", True)
            status = {"hold": "held", "deny": "refused", "off": "paid"}[params["gate"]] if doubted else "paid"
            if status == "refused":
                near = None
            else:
                units = pay(near[1] if near else 0, params)
                forms[form] = one["id"]
                rows += [(one["id"], vector) for vector in vectors]
        (held if status == "held" else balances)[one["contributor"]] += units
        results.append(
            {
                "id": one["id"],
                "status": status,
                "max_similarity": float(Fraction(near[1], 10**6)) if near else None,
                "nearest": near[0] if near else None,
                "units": units,
            }
        )
    treasury = -sum(balances.values()) - sum(held.values())
    return {"results": results, "balances": balances, "held": held, "treasury": treasury}


def find_nearest(rows: list[tuple[str, list[int]]], vectors: list[list[int]]) -> tuple[str, int] | None:
    best: tuple[str, int] | None = None
    for name, row in rows:
        for vector in vectors:
            product = sum(a * b for a, b in zip(row, vector, strict=True))
            if best is None or product > best[1]:
                best = (name, product)
    if best is None:
        return None
    return best[0], max(-(10**6), min(10**6, round(Fraction(best[1], 10**6))))


def quantise(vector: list[float]) -> list[int]:
    exact = [Decimal(repr(float(x))) for x in vector]
    length = CONTEXT.sqrt(sum((CONTEXT.multiply(x, x) for x in exact), Decimal(0)))
    if not length:
        return [0] * len(vector)
    scaled = (CONTEXT.divide(CONTEXT.multiply(x, Decimal(10**6)), length) for x in exact)
    return [int(x.to_integral_value(ROUND_HALF_EVEN)) for x in scaled]


def pay(micro: int, params: dict[str, Any]) -> int:
    number = {name: Decimal(str(value)) for name, value in params.items() if name in DEFAULTS and name != "gate"}
    fallen = number["reference_similarity"] - Decimal(micro).scaleb(-6)
    if fallen < 0:
        return 0
    limit = CONTEXT.multiply(number["max_reward"], number["base_units"])
    power = CONTEXT.divide(fallen, number["similarity_step"])
    least = CONTEXT.multiply(number["min_reward"], number["base_units"])
    return min(round_even(limit), round_even(CONTEXT.multiply(least, CONTEXT.power(number["reward_factor"], power))))


def round_even(value: Decimal) -> int:
    """What the power's own error could tip is cut off first."""
    return int(Context(prec=70).plus(value).to_integral_value(ROUND_HALF_EVEN))


def write_form(text: str) -> str:
    for _ in range(5):
        text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    return " ".join(text.split())


def is_refused(text: str, params: dict[str, Any]) -> bool:
    control = any(unicodedata.category(c) in ("Cc", "Cs") and c not in "\t\n\r" for c in text)
    plain = unicodedata.normalize("NFKC", text)
    visible = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    words = "".join(c if c.isalnum() else " " for c in visible).split()
    return control or max(len(text), len(plain)) > params["max_chars"] or len(words) < params["min_words"]
