"""Small rounds with every kind of contribution, for the conformance checks."""

from collections.abc import Sequence

from weighbeam.mechanisms.contract import Answer, Asked, Group, Reply, Task

OTTERS = "Sea otters hold hands while they sleep, so that the current does not carry one of them away from the others."
DRIFT = "While sleeping, sea otters hold each other's hands so as not to drift apart."
BRIDGE = "A steel bridge is about thirty centimetres longer on a summer afternoon than on the coldest night of winter."
BREAD = "Bread dough that rests overnight in a refrigerator ferments slowly and tastes of more than flour and yeast."
Given = tuple[str, object, Reply]


def example_rounds() -> Sequence[Asked]:
    """Two rounds: new and old, hidden and buried copies, gibberish, refusals; then one with nothing to pay."""
    filler = " ".join(f"Line {i} of a long list says nothing that anybody would want to read again." for i in range(40))
    given: list[Given] = [
        ("first", {"contributions": [OTTERS, BRIDGE]}, "ok"),
        ("copier", {"contributions": [f"  {OTTERS.upper()}\u200b"]}, "ok"),
        (
            "paraphrase",
            {"contributions": [DRIFT]},
            "ok",
        ),
        ("buried", {"contributions": [f"{filler} {OTTERS} {filler}"]}, "ok"),
        ("baker", {"contributions": [BREAD]}, "ok"),
        ("keyboard", {"contributions": ["xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq"]}, "ok"),
        ("terse", {"contributions": ["too short", 7, "bell \x07 in a text"]}, "ok"),
        ("shapeless", ["no object"], "ok"),
        ("our-fault", {"contributions": [BREAD]}, "validator_error"),
    ]
    return _round("example-1", given, 0.0), _round("example-2", given[-3:], 90_000.0)


def _round(name: str, given: Sequence[Given], at: float) -> Asked:
    answers = tuple(Answer(hotkey, payload, 0.0, status) for hotkey, payload, status in given)
    group = Group(tuple(answer.hotkey for answer in answers))
    return Asked(Task(name, {}), group, answers, f"seed-of-{name}", at=at)
