"""Small rounds with every kind of answer, for the conformance checks."""

from collections.abc import Sequence

from weighbeam.mechanism.records import Answer, Asked, Group, Reply, Task

PROMPT = "Why do long bridges have expansion joints, and what happens when one is blocked?"

STEEL = (
    "Steel and concrete grow longer when they warm: a steel deck of 500 metres gains about 30 centimetres between "
    "a winter night and a summer afternoon. The joint leaves a gap in which the deck can move. If stones or rust "
    "block the gap, the deck pushes against its abutment, and the thrust cracks bearings or buckles the deck."
)
GAP = (
    "Temperature changes the length of a bridge deck, so engineers leave gaps with sliding plates or rubber seals. "
    "These expansion joints let each span lengthen by several centimetres in July and shorten again in January. "
    "A joint that is jammed with debris cannot close, which puts compression into the girders and damages piers."
)
THERMAL = (
    "Thermal expansion is the reason: steel lengthens by roughly 12 millionths per degree Celsius, which adds up on "
    "a deck of a kilometre. Finger joints or modular seals absorb this movement at the ends of the spans. When dirt "
    "fills such a joint, the movement is restrained, and the bridge develops cracks, spalled concrete or bent bearings."
)
TRAFFIC = (
    "Mostly they are there for the traffic: heavy lorries make the carriageway vibrate, and a break in the surface "
    "every 40 metres keeps this vibration from travelling along the whole bridge. Maintenance crews in Rotterdam "
    "measured it with accelerometers. A blocked joint therefore makes the bridge louder for its neighbours."
)
ExampleAnswer = tuple[str, object, float, Reply]


def example_rounds() -> Sequence[Asked]:
    """Three rounds: good and bad answers, yes against no, and one in which too few answered."""
    given: list[ExampleAnswer] = [
        ("steel", {"text": STEEL, "confidence": 0.9}, 2.1, "ok"),
        ("gap", {"text": GAP}, 1.4, "ok"),
        ("thermal", {"text": THERMAL, "confidence": "high"}, 3.0, "ok"),
        ("copy", {"text": STEEL + "\n"}, 0.2, "ok"),
        ("traffic", {"text": TRAFFIC, "confidence": 1e300}, 2.5, "ok"),
        ("echo", {"text": f"You ask: {PROMPT} That is a good question."}, 0.1, "ok"),
        ("elsewhere", {"text": "Buy cheap watches with free shipping and great discounts today."}, 0.1, "ok"),
        ("babble", {"text": "bridge joint steel gap bridge deck joint heat expansion steel"}, 0.1, "ok"),
        ("empty", {"text": " …\u200b\n"}, 0.1, "ok"),
        ("wrong-type", {"text": 7}, 0.1, "ok"),
        ("no-object", ["text"], 0.1, "ok"),
        ("endless", {"text": "bridge " * 20_000}, 1.0, "ok"),
        ("silent", None, 120.0, "timeout"),
        ("our-fault", {"text": GAP}, 1.0, "validator_error"),
    ]
    robots: list[ExampleAnswer] = [
        (
            "yes",
            {"text": "Yes, because a warm deck of steel is longer and the joint gives it 30 centimetres."},
            1,
            "ok",
        ),
        ("no", {"text": "No, a bridge of stone arches takes up the heat by rising a few millimetres."}, 1, "ok"),
        ("arabic", {"text": "نعم، لأن الفولاذ يتمدد بالحرارة."}, 1, "ok"),
        ("emoji", {"text": "🌉🔥📏"}, 1, "ok"),
    ]
    question: dict[str, object] = {
        "messages": [{"role": "user", "content": "Does every long bridge need expansion joints?"}]
    }
    return (
        _round("example-1", {"prompt": PROMPT}, given),
        _round("example-2", question, robots),
        _round("example-3", {"prompt": PROMPT}, given[-6:]),
    )


def _round(name: str, body: dict[str, object], given: Sequence[ExampleAnswer]) -> Asked:
    answers = tuple(Answer(hotkey, payload, seconds, status) for hotkey, payload, seconds, status in given)
    return Asked(Task(name, body), Group(tuple(a.hotkey for a in answers)), answers, f"seed-of-{name}")
