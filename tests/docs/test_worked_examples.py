"""The worked examples of the mechanism pages are what the stages return."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests_root import ROOT
from weighbeam.engine.vectors import call_stage, collect_stages
from weighbeam.mechanisms.inference.composite import Standpoint, compose_parts, sum_parts
from weighbeam.mechanisms.inference.params import InferenceParams

STAGES = collect_stages()
A1, A2, B1, B2 = [1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]
LIMITS = {"chunk_size": 200, "chunk_qty": 4, "seconds": 1.0}
CUTS = {
    "apart": {"chunk_of": [0, 0, 1, 1], "vectors": [A1, A2, B1, B2], "lengths": [180, 190]},
    "mixed": {"chunk_of": [0, 0, 1, 1], "vectors": [A1, B1, A2, B2], "lengths": [180, 190]},
    "long": {"chunk_of": [0, 0, 1, 1], "vectors": [A1, A2, B1, B2], "lengths": [180, 220]},
}


def call(stage: str, given: Mapping[str, Any]) -> dict[str, Any]:
    return call_stage(STAGES[stage], given)


def example_of(name: str) -> str:
    """The section of the page that computes one by hand."""
    _, _, rest = (ROOT / f"docs/mechanisms/{name}.md").read_text().partition("## By numbers\n")
    return rest.partition("\n## ")[0]


def snippet(domain: str, local: float, multiplier: int = 1) -> dict[str, Any]:
    return {
        "accepted": True,
        "reason": None,
        "penalty": None,
        "local": local,
        "multiplier": multiplier,
        "domain": domain,
    }


FORGED = {
    "accepted": False,
    "reason": "fake_snippet",
    "penalty": -5.0,
    "local": None,
    "multiplier": 1,
    "domain": "d.com",
}


def work_chunking() -> dict[str, float]:
    found = {name: call("chunking.reward", {**cut, **LIMITS}) for name, cut in CUTS.items()}
    told = {f"{name} reward": reply["reward"] for name, reply in found.items()}
    told |= {f"{name} {part}": found[name]["parts"][part] for name in ("apart", "mixed") for part in ("intra", "inter")}
    round_ = {"base": 0, "results": [{"hotkey": "a", "status": "valid", "place": 0}]}
    given = {"standings": [{"hotkey": "a", "score": 2.0}], "rounds": [round_], "seed": "s"}
    told["standing"] = call("chunking.stand", given)["scores"][0]["score"]
    weighed = call("chunking.weigh", {"scores": [{"hotkey": name, "score": n} for n, name in enumerate("abc")]})
    return {**told, **{f"share {n}": 100 * share for n, share in enumerate(weighed["weights"])}}


def score(near: float, quality: float, removed: str | None = None) -> float:
    stands = Standpoint(near, quality, 0.8, removed is None, removed, diverse=False)
    return sum_parts(compose_parts(stands, InferenceParams()))


def pay(first_score: float, first_in: bool) -> dict[str, Any]:
    fixed = {"flagged": False, "pay": 1.0}
    answers = [
        {"hotkey": "a", "seconds": 1.0, "group": "a", "score": first_score, "in_consensus": first_in, **fixed},
        {"hotkey": "b", "seconds": 2.0, "group": "b", "score": 75.5, "in_consensus": True, **fixed},
        {"hotkey": "c", "seconds": 4.0, "group": "c", "score": 75.5, "in_consensus": True, **fixed},
    ]
    return call("inference.emissions", {"answers": answers, "pool": 0.8, "achieved": True})


def work_inference() -> dict[str, float]:
    member, outside = score(0.9, 0.7), score(0.5, 0.5, "other_cluster")
    paid = pay(member, first_in=True)
    rows = [{"round": f"r{n}", "at": 3600 * n, "emission": paid["emissions"]["b"]} for n in range(3)]
    return {
        "member": member,
        "outside": outside,
        **{f"speed {name}": value for name, value in paid["speed"].items()},
        **{f"emission {name}": value for name, value in paid["emissions"].items()},
        "emission outside": pay(outside, first_in=False)["emissions"]["a"],
        "standing": call("weigh_in.ema", {"now": 7200, "evaluations": rows})["ema"],
    }


def work_evidence() -> dict[str, float]:
    honest = [snippet("a.com", 0.9), snippet("a.com", 0.8), snippet("b.org", 0.7, 3)]
    first = call("evidence.response", {"status": "ok", "seconds": 15.0, "snippets": honest})
    forged = call("evidence.response", {"status": "ok", "seconds": 15.0, "snippets": [*honest, FORGED]})
    stood = call("evidence.stand", {"standing": {"average": 4.0, "responses": 10}, "scores": [first["value"]]})
    return {
        "sum": first["parts"]["sum"],
        "value": first["value"],
        "forged": forged["value"],
        "standing": stood["average"],
    }


def work_novelty() -> dict[str, float]:
    assert call("novelty.reward", {"max_similarity": 0.96})["units"] == 0, "nothing, in words"
    return {str(s): call("novelty.reward", {"max_similarity": s})["units"] for s in (0.87, 0.6)}


SHOWN: dict[str, tuple[Any, int]] = {
    "chunking": (work_chunking, 4),
    "inference": (work_inference, 3),
    "evidence": (work_evidence, 2),
    "novelty": (work_novelty, 0),
}


def write_number(value: float, decimals: int) -> str:
    """As the pages write it: thousands apart, a true minus, no zeros at the end.

    >>> write_number(-0.22, 4), write_number(398107171, 0)
    ('−0.22', '398,107,171')
    """
    written = f"{value:,.{decimals}f}"
    return (written.rstrip("0").rstrip(".") if "." in written else written).replace("-", "−")


@pytest.mark.parametrize("name", sorted(SHOWN))
def test_a_worked_example_comes_out_as_written(name: str) -> None:
    work, decimals = SHOWN[name]
    page = example_of(name)
    found = {what: write_number(value, 1 if "share" in what else decimals) for what, value in work().items()}
    assert found
    missing = {what: written for what, written in found.items() if written not in page}
    assert missing == {}


def test_shares_of_evidence_are_as_written() -> None:
    """The vector of three miners, whose weights the page tells in per cent."""
    neurons = [{"uid": uid, "hotkey": f"h{uid}", "permit": False} for uid in range(4)]
    standings = [{"hotkey": f"h{uid}", "average": 9.0 / uid, "responses": 10} for uid in (1, 2, 3)]
    given = {"neurons": neurons, "standings": standings, "burn_uid": 0, "seed": "epoch-1"}
    weights = call("evidence.weigh", given)["weights"]
    shares = [round(100 * weight / sum(weights), 2) for weight in weights]
    assert shares == [50.0, 31.25, 12.5, 6.25]
    assert all(f"{share:g} %" in example_of("evidence") for share in shares[1:])
