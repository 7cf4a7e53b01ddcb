"""What holds of scores, standings, weights and verdicts whatever comes in."""

import copy
import json
import time
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.stats import apportion
from weighbeam.mechanisms.evidence.choose import choose_weighted, draw_number, weigh_chance
from weighbeam.mechanisms.evidence.judge.response import measure_speed, recompute_value
from weighbeam.mechanisms.evidence.params import EvidenceParams
from weighbeam.mechanisms.evidence.stages import STAGES, STAGES_TEXT
from weighbeam.mechanisms.evidence.stand import Memory
from weighbeam.mechanisms.evidence.weigh import pay_ranks

TOTAL = 65535
compare = STAGES_TEXT["evidence.duplicates"]
NEURON = {"uid": 1, "hotkey": "a", "permit": False}
respond, stand, weigh, conclude = (STAGES[f"evidence.{name}"] for name in ("response", "stand", "weigh", "verdict"))

shares = st.floats(0, 1) | st.integers(0, 100).map(lambda percent: percent / 100)
averages = st.floats(-50, 50) | st.sampled_from([0.0, 1.0, -0.0])
domains = st.sampled_from(["a.com", "A.com", "b.org", "c.net"])
numbers = st.floats(-1e12, 1e12)


@st.composite
def weigh_params(draw: st.DrawFn) -> dict[str, Any]:
    burn = draw(shares)
    return {
        "burn_share": burn,
        "base_share": draw(shares.filter(lambda base: burn + base <= 0.999999) | st.just(0.0)),
        "residual": draw(st.sampled_from(["top", "burn", "proportional"])),
        "ties": draw(st.sampled_from(["share", "seeded"])),
        "min_responses": draw(st.integers(0, 5)),
        "min_score": draw(st.none() | averages),
    }


@st.composite
def subnets(draw: st.DrawFn) -> dict[str, Any]:
    hotkeys = draw(st.lists(st.text(min_size=1, max_size=4), unique=True, max_size=12))
    uids = draw(st.permutations(range(len(hotkeys))))
    neurons = [
        {"uid": uid, "hotkey": hotkey, "permit": draw(st.integers(0, 4)) == 0}
        for uid, hotkey in zip(uids, hotkeys, strict=True)
    ]
    standings = [
        {"hotkey": hotkey, "average": draw(averages), "responses": draw(st.integers(0, 4))}
        for hotkey in [*hotkeys, "gone"]
        if hotkey != "gone" or "gone" not in hotkeys
    ]
    return {
        "neurons": neurons,
        "standings": standings,
        "burn_uid": draw(st.none() | st.sampled_from(uids)) if hotkeys else None,
        "self": draw(st.none() | st.sampled_from(hotkeys)) if hotkeys else None,
        "banned": draw(st.lists(st.sampled_from(hotkeys), max_size=2)) if hotkeys else [],
        "seed": draw(st.text(max_size=3) | st.integers()),
        "params": draw(weigh_params()),
    }


@given(subnets())
def test_weights_total_65535_or_there_is_nothing_to_submit(subnet: dict[str, Any]) -> None:
    out = weigh(subnet)
    anybody = bool(out["ranking"]) or subnet["burn_uid"] is not None
    assert out["total"] == sum(out["weights"]) == (TOTAL if anybody else 0)
    assert all(type(weight) is int and weight >= 0 for weight in out["weights"])
    assert out["uids"] == sorted(neuron["uid"] for neuron in subnet["neurons"])
    assert max(out["emit"]["values"], default=TOTAL) == TOTAL
    assert all(1 <= value <= TOTAL for value in out["emit"]["values"])
    assert out["emit"]["uids"] == [u for u, w in zip(out["uids"], out["weights"], strict=True) if w]


@given(subnets())
def test_only_active_miners_and_the_burn_uid_are_paid(subnet: dict[str, Any]) -> None:
    out = weigh(subnet)
    held = {neuron["uid"]: neuron["hotkey"] for neuron in subnet["neurons"]}
    paid = dict(zip(out["uids"], out["weights"], strict=True))
    assert all(held[uid] in out["ranking"] or uid == subnet["burn_uid"] for uid, units in paid.items() if units)
    permits = {neuron["hotkey"] for neuron in subnet["neurons"] if neuron["permit"]}
    left_out = {subnet["self"], *subnet["banned"], held.get(subnet["burn_uid"])} | permits
    assert not left_out & set(out["ranking"])
    by_rank = [paid[uid] for hotkey in out["ranking"] for uid in held if held[uid] == hotkey]
    assert all(one + 1 >= next_one for one, next_one in pairwise(by_rank))
    assert out["dropped"] == sorted(u for u, w in paid.items() if not w and held[u] in out["ranking"])


@given(subnets(), st.randoms(use_true_random=False))
def test_order_and_uids_decide_nothing(subnet: dict[str, Any], random: Any) -> None:
    out = weigh(subnet)
    shuffled = copy.deepcopy(subnet)
    for name in ("neurons", "standings", "banned"):
        random.shuffle(shuffled[name])
    assert weigh(shuffled) == out

    renumbered = copy.deepcopy(subnet)
    uids = [neuron["uid"] for neuron in renumbered["neurons"]]
    fresh = dict(zip(uids, random.sample(range(1000), len(uids)), strict=True))
    for neuron in renumbered["neurons"]:
        neuron["uid"] = fresh[neuron["uid"]]
    if renumbered["burn_uid"] is not None:
        renumbered["burn_uid"] = fresh[renumbered["burn_uid"]]
    again = weigh(renumbered)
    assert again["ranking"] == out["ranking"]
    before = dict(zip(out["uids"], out["weights"], strict=True))
    assert dict(zip(again["uids"], again["weights"], strict=True)) == {fresh[u]: w for u, w in before.items()}


@given(subnets(), st.integers(0, 9))
def test_equal_averages_are_paid_alike_and_higher_ones_no_less(subnet: dict[str, Any], other_seed: int) -> None:
    given = {**subnet, "params": {**subnet["params"], "ties": "share"}}
    out = weigh(given)
    places = {neuron["hotkey"]: neuron["uid"] for neuron in subnet["neurons"]}
    averages = {row["hotkey"]: round(row["average"], 9) for row in subnet["standings"]}
    paid = dict(zip(out["uids"], out["weights"], strict=True))
    for better, worse in pairwise(out["ranking"]):
        assert paid[places[better]] >= paid[places[worse]]
        if averages[better] == averages[worse]:
            assert paid[places[better]] <= paid[places[worse]] + 1
    again = weigh({**given, "seed": other_seed})
    assert all(abs(one - two) <= 1 for one, two in zip(out["weights"], again["weights"], strict=True))


def test_equals_share_the_sum_of_their_places_exactly() -> None:
    alone, shared = (pay_ranks(equals, True, EvidenceParams()) for equals in ([1, 1, 1, 1], [1, 2, 1]))
    assert (alone.miners, alone.burn) == ((18431, 8192, 4096, 2048), 32768)
    assert (shared.miners, shared.burn) == ((18431, 6144, 6144, 2048), 32768)
    assert pay_ranks([3], True, EvidenceParams(burn_share=0.0, residual="burn")).miners == (19115, 19114, 19114)
    assert pay_ranks([2], True, EvidenceParams(residual="proportional")).miners == (16384, 16383)
    assert pay_ranks([4096], False, EvidenceParams()).miners == (16,) * 4095 + (15,)


quotes = st.tuples(st.integers(0, 2), st.integers(0, 8), st.integers(5, 9), st.booleans())


rounds = st.lists(st.lists(quotes, min_size=1, max_size=5), min_size=1, max_size=4)


@given(rounds, st.sampled_from(["answer", "snippet"]))
def test_leaving_a_copied_snippet_out_changes_nothing_for_anybody(answers: list[list[Any]], copies: str) -> None:
    """So that no copy is a gain, and none costs another miner anything."""
    rows = [[_quote(*one) for one in answer] for answer in answers]
    before, marks = _score_all(rows, copies)
    for own, answer in enumerate(rows):
        for number, mark in enumerate(marks[own]):
            if mark is not None:
                assert copies == "snippet"
                assert answer[number]["accepted"]
                left = [*rows[:own], [*answer[:number], *answer[number + 1 :]], *rows[own + 1 :]]
                after, _ = _score_all(left, copies)
                assert [value for at, value in enumerate(before) if at != own] == [
                    value for at, value in enumerate(after) if at != own
                ]
                assert len(answer) == 1 or after[own] == before[own]


def _quote(page: int, start: int, length: int, accepted: bool) -> dict[str, Any]:
    words = " ".join(f"word{number}" for number in range(start, start + length))
    return {"url": f"https://site{page}.com/1", "excerpt": words, "accepted": accepted, "domain": f"site{page}.com"}


def _score_all(rows: list[list[dict[str, Any]]], copies: str) -> tuple[list[float], list[list[Any]]]:
    given = [
        {"hotkey": f"h{i}", "seconds": float(i), "value": 1.0, "snippets": snippets} for i, snippets in enumerate(rows)
    ]
    found = compare({"seed": "s", "responses": given, "params": {"copies": copies}})["responses"]
    marks = [row["snippets"] for row in found]
    values = []
    for i, (snippets, sources) in enumerate(zip(rows, marks, strict=True)):
        judged = [
            {**one, "local": 0.7, "multiplier": 1.0, "penalty": -1.0, "copy_of": source}
            for one, source in zip(snippets, sources, strict=True)
        ]
        values.append(respond({"status": "ok", "seconds": float(i), "snippets": judged})["value"])
        assert not any(sources) or all(sources[n] for n in range(len(sources)) if snippets[n]["accepted"]) == (
            found[i]["copy_of"] is not None
        )
    return values, marks


@given(st.integers(0, 300), st.booleans(), weigh_params())
def test_every_unit_is_paid_once(count: int, burns: bool, overrides: dict[str, Any]) -> None:
    paid = pay_ranks([1] * count, burns, EvidenceParams(**overrides))
    assert sum(paid.miners) + paid.burn == (TOTAL if count or burns else 0)
    assert len(paid.miners) == count
    assert burns or paid.burn == 0


@given(st.lists(st.fractions(0, 1000), max_size=20))
def test_apportioned_units_are_the_ideals_rounded_either_way(ideals: list[Any]) -> None:
    whole = [*ideals, -sum(ideals) % 1]
    units = apportion(whole)
    assert sum(units) == sum(whole)
    assert all(abs(unit - ideal) < 1 for unit, ideal in zip(units, whole, strict=True))


def test_the_whole_base_and_burn_leave_a_curve_of_nothing() -> None:
    paid = pay_ranks([1, 1, 1], True, EvidenceParams(burn_share=0.5, base_share=0.5))
    assert (paid.burn, sorted(paid.miners)) == (32768, [10922, 10922, 10923])
    assert pay_ranks([1, 1], True, EvidenceParams(burn_share=1.0)).miners == (0, 0)


def test_a_full_subnet_is_weighed_at_once() -> None:
    neurons = [{"uid": uid, "hotkey": f"h{uid}", "permit": False} for uid in range(4096)]
    standings = [{"hotkey": f"h{uid}", "average": uid / 100, "responses": 3} for uid in range(4096)]
    start = time.perf_counter()
    out = weigh(
        {"neurons": neurons, "standings": standings, "burn_uid": 0, "seed": 1, "params": {"residual": "proportional"}}
    )
    assert out["total"] == TOTAL
    assert time.perf_counter() - start < 5


@given(st.none() | numbers, st.lists(st.none() | numbers, min_size=1), st.integers(0, 300), shares, shares)
def test_averages_stay_among_the_scores(
    old: Any, scores: list[Any], responses: int, new: float, history: float
) -> None:
    standing = None if old is None else {"average": old, "responses": responses}
    out = stand({"standing": standing, "scores": scores, "params": {"immunity_new": new, "history": history}})
    given_scores = [score for score in scores if score is not None]
    counted = 0 if old is None else responses
    assert out["responses"] == counted + len(given_scores)
    assert len(out["averages"]) == len(scores)
    seen = [*([old] if old is not None else []), *given_scores]
    slack = 1e-9 * max([1.0, *map(abs, seen)])
    known = [average for average in out["averages"] if average is not None]
    assert all(min(seen) - slack <= average <= max(seen) + slack for average in known)
    assert known == out["averages"][len(out["averages"]) - len(known) :]


accepted = st.fixed_dictionaries(
    {"accepted": st.just(True), "local": st.floats(0, 1), "multiplier": st.sampled_from([1, 3.0]), "domain": domains}
)
rejected = st.fixed_dictionaries({"accepted": st.just(False), "penalty": st.sampled_from([0, -1, -2.0, -5])})


@given(
    st.lists(accepted | rejected, min_size=1, max_size=8), st.floats(-10, 1e6), st.sampled_from(["apply", "neutral"])
)
def test_a_score_keeps_its_bounds_and_adds_up(rows: list[Any], seconds: float, rule: str) -> None:
    out = respond({"status": "ok", "seconds": seconds, "snippets": rows, "params": {"speed_on_negative": rule}})
    parts = out["parts"]
    assert -10 <= out["value"] <= 30
    assert 1 <= parts["speed"] <= 2
    assert recompute_value(parts) == out["value"]
    assert parts["floor_applied"] == (parts["sum"] * parts["speed"] < -10)
    assert parts["sum"] == pytest.approx(sum(row["score"] for row in parts["snippets"]))
    assert [row["counted"] for row in parts["snippets"]] == [place < 5 for place in range(len(rows))]


@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(1e-300, 86_400))
def test_speed_is_between_one_and_two_and_never_rewards_waiting(seconds: float, scale: float) -> None:
    params = EvidenceParams(speed_seconds=scale)
    assert 1 <= measure_speed(seconds, params) <= 2
    assert measure_speed(abs(seconds), params) <= measure_speed(-abs(seconds), params)


@given(st.lists(accepted | rejected, min_size=1, max_size=5), st.integers(0, 4))
def test_one_faulty_snippet_leaves_the_answer_unscored(rows: list[Any], place: int) -> None:
    rows.insert(min(place, len(rows)), {"accepted": None})
    out = respond({"status": "ok", "seconds": 1, "snippets": rows})
    faulty = any(row["accepted"] is None for row in rows[:5])
    assert (out["value"] is None) == faulty
    assert (out["reason"] == "validator_fault") == faulty


def test_what_comes_after_the_fifth_is_not_even_read() -> None:
    row = {"accepted": True, "local": 1.0, "multiplier": 1, "domain": "a.com"}
    out = respond({"status": "ok", "seconds": 60, "snippets": [row] * 5 + [None, "junk", {"accepted": None}]})
    assert out["parts"]["snippets"][5:] == [{"score": 0.0, "domain_factor": None, "counted": False}] * 3


@st.composite
def quotes(draw: st.DrawFn) -> dict[str, Any]:
    cuts = sorted(draw(st.tuples(st.integers(0, 100), st.integers(0, 100))))
    nli = {"contradiction": cuts[0] / 100, "neutral": (cuts[1] - cuts[0]) / 100, "entailment": (100 - cuts[1]) / 100}
    return {
        "page": draw(st.sampled_from(["a/1", "a/2", "b/1"])),
        "excerpt": draw(st.sampled_from(["One two three.", "one  TWO three", "Four five"])),
        "domain": draw(domains),
        "multiplier": draw(st.sampled_from([1, 3])),
        "nli": nli,
    }


@given(st.lists(quotes(), max_size=8), st.randoms(use_true_random=False))
def test_a_verdict_ignores_order_and_repeats(rows: list[Any], random: Any) -> None:
    out = conclude({"snippets": rows})
    more = rows + [random.choice(rows) for _ in range(3) if rows]
    random.shuffle(more)
    assert conclude({"snippets": more}) == out
    assert out["used"] <= len(rows)
    assert 0 <= out["confidence"] <= 1
    assert out["verdict"] in ("supports", "refutes", "mixed", "insufficient")


def quote(name: str, entailment: float, contradiction: float) -> dict[str, Any]:
    nli = {
        "contradiction": contradiction,
        "neutral": abs(round(1 - entailment - contradiction, 9)),
        "entailment": entailment,
    }
    return {"page": name, "excerpt": f"words of {name}", "domain": name, "multiplier": 1, "nli": nli}


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([quote("a", 0.75, 0.0), quote("b", 0.0, 0.25)], "insufficient"),
        ([quote("a", 0.9, 0.1), quote("b", 0.6, 0.4)], "supports"),
        ([quote("a", 0.9, 0.1), quote("b", 0.58, 0.42)], "mixed"),
        ([quote("a", 0.1, 0.9), quote("b", 0.4, 0.6)], "refutes"),
        ([quote("a", 0.7, 0.0), quote("b", 0.51, 0.0)], "supports"),
    ],
)
def test_the_margin_decides_over_bare_probabilities(rows: list[Any], verdict: str) -> None:
    sums = {"verdict_rule": "sum", "verdict_min_mass": 1.0, "verdict_margin": 0.75}
    assert conclude({"snippets": rows, "params": sums})["verdict"] == verdict


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([quote("a", 0.5, 0.3), quote("b", 0.4, 0.35)], "insufficient"),
        ([quote("a", 0.9, 0.1), quote("b", 0.3, 0.6)], "supports"),
        ([quote("a", 0.9, 0.1), quote("b", 0.2, 0.6)], "mixed"),
        ([quote("a", 0.1, 0.9), quote("b", 0.4, 0.6)], "refutes"),
        ([quote("a", 0.9, 0.0), quote("b", 0.3, 0.2)], "insufficient"),
    ],
)
def test_the_margin_decides_over_what_is_likelier(rows: list[Any], verdict: str) -> None:
    """In the last row the second passage takes no side, so that one domain is left."""
    assert conclude({"snippets": rows})["verdict"] == verdict


def test_no_mass_is_never_enough() -> None:
    out = conclude({"snippets": [], "params": {"verdict_min_domains": 0, "verdict_min_mass": 0}})
    assert (out["verdict"], out["confidence"]) == ("insufficient", 0.0)


@pytest.mark.parametrize(
    ("stage", "given_input", "code"),
    [
        ("response", {"status": "late"}, "bad_status"),
        ("response", {"status": "ok", "snippets": [{}]}, "bad_seconds"),
        ("response", {"status": "ok", "seconds": True, "snippets": [{}]}, "bad_seconds"),
        ("response", {"status": "ok", "seconds": 1, "snippets": [{}]}, "bad_input"),
        ("stand", {"scores": ["4"]}, "bad_score"),
        ("stand", {"scores": [True]}, "bad_score"),
        ("stand", {"standing": {"average": None, "responses": 3}, "scores": []}, "bad_average"),
        ("weigh", {"neurons": [NEURON, NEURON | {"hotkey": "b"}]}, "duplicate_neuron"),
        ("weigh", {"neurons": [NEURON, NEURON | {"uid": 2}]}, "duplicate_neuron"),
        ("weigh", {"burn_uid": 0}, "unknown_burn_uid"),
        ("weigh", {"standings": [{"hotkey": "a", "average": None, "responses": 1}], "seed": 1}, "bad_average"),
        ("weigh", {"standings": [{"hotkey": "a", "average": 10**400, "responses": 1}], "seed": 1}, "bad_average"),
        ("weigh", {"standings": [{"hotkey": "a", "average": 1, "responses": 1}] * 2, "seed": 1}, "duplicate_hotkey"),
        ("weigh", {"neurons": [], "standings": []}, "bad_seed"),
        ("verdict", {"snippets": [quote("a", 0.5, 0.6)]}, "bad_nli"),
        ("verdict", {"snippets": [quote("a", 0.5, 0.5) | {"nli": {"contradiction": 0.5, "neutral": 0.5}}]}, "bad_nli"),
        ("verdict", {"snippets": [quote("a", 0.5, 0.4) | {"nli": None}]}, "bad_nli"),
        ("verdict", {"snippets": [quote("a", 0.5, 0.5) | {"multiplier": -1}]}, "bad_input"),
        ("verdict", {"params": {"margin": 1}}, "unknown_parameter"),
        ("weigh", {"params": {"burn_share": 2}}, "bad_parameter"),
    ],
)  # fmt: skip
def test_refusals(stage: str, given_input: dict[str, Any], code: str) -> None:
    with pytest.raises(WeighbeamError) as caught:
        STAGES[f"evidence.{stage}"](given_input)
    assert caught.value.code == code


KEYS = """
    status seconds snippets standing scores standings neurons burn_uid self banned seed params accepted penalty local
    multiplier domain page excerpt nli contradiction neutral entailment average responses uid hotkey permit
""".split()
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3)
leaves = scalars | st.sampled_from(["ok", 10**400])
junk = st.recursive(
    leaves,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=12,
)


@settings(max_examples=200)
@given(st.sampled_from(sorted(STAGES)), st.dictionaries(st.sampled_from(KEYS), junk, max_size=8))
def test_junk_is_refused_by_name(stage: str, given_input: dict[str, Any]) -> None:
    try:
        json.dumps(STAGES[stage](given_input), allow_nan=False)
    except WeighbeamError:
        event("refused")


@settings(max_examples=200)
@given(st.data())
def test_a_good_input_with_one_bad_value_is_refused_by_name_or_taken(data: st.DataObject) -> None:
    """Junk in one place of a proper input reaches deeper than junk all over."""
    goods: list[tuple[str, dict[str, Any]]] = [
        ("response", {"status": "ok", "seconds": 3, "snippets": [
            {"accepted": True, "local": 0.5, "multiplier": 1, "domain": "a"}, {"accepted": False, "penalty": -1}]}),
        ("stand", {"standing": {"average": 1.0, "responses": 3}, "scores": [1, None]}),
        ("weigh", {"neurons": [{"uid": 1, "hotkey": "a", "permit": False}, {"uid": 2, "hotkey": "b", "permit": True}],
                   "standings": [{"hotkey": "a", "average": 1.0, "responses": 1}], "burn_uid": 2, "seed": "s"}),
        ("verdict", {"snippets": [quote("a", 0.9, 0.05), quote("b", 0.9, 0.05)]}),
    ]  # fmt: skip
    stage, good = data.draw(st.sampled_from(goods))
    spoilt = copy.deepcopy(good)
    place: Any = spoilt
    while True:
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], (dict, list)) or not place[key] or data.draw(st.booleans()):
            place[key] = data.draw(junk)
            break
        place = place[key]
    try:
        json.dumps(STAGES[f"evidence.{stage}"](spoilt), allow_nan=False)
    except WeighbeamError:
        event("refused")


memories = st.dictionaries(
    st.sampled_from("abcdefgh"), st.builds(Memory, st.none() | averages, st.integers(0, 300)), max_size=8
)


@given(
    memories,
    st.lists(st.sampled_from("abcdefgh")),
    st.text(max_size=3),
    st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_a_draw_is_fair_to_order_and_asks_nobody_twice(
    known: Any, miners: list[str], seed: str, size: int, random: Any
) -> None:
    params = EvidenceParams(group_size=size)
    group = choose_weighted(known, miners, seed, ["a", "z", "a"], params)
    assert len(set(group.members)) == len(group.members) == min(size, len(set(miners)))
    assert set(group.members) <= set(miners)
    assert group.unknown == (("z",) if "a" in miners else ("a", "z"))
    assert not set(group.extra) & set(group.members)
    random.shuffle(miners)
    assert choose_weighted(known, miners, seed, ["a", "z", "a"], params) == group


def test_better_miners_are_drawn_more_often_and_nobody_never() -> None:
    known = {"best": Memory(10.0, 500), "worst": Memory(-5.0, 500), "new": Memory(), "middle": Memory(2.5, 500)}
    params = EvidenceParams(group_size=1)
    drawn = [choose_weighted(known, list(known), seed, (), params).members[0] for seed in range(4000)]
    shares = {hotkey: drawn.count(hotkey) / len(drawn) for hotkey in known}
    total = sum(weigh_chance(memory, params) for memory in known.values())
    for hotkey, memory in known.items():
        assert shares[hotkey] == pytest.approx(0.9 * weigh_chance(memory, params) / total + 0.025, abs=0.03)


@given(st.text() | st.integers(), st.text())
def test_a_drawn_number_is_above_zero_and_at_most_one(seed: Any, hotkey: str) -> None:
    assert 0 < draw_number(seed, hotkey) <= 1
