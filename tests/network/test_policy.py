"""Who may ask, and who goes first when places are few."""

from contextlib import ExitStack

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.policy import PolicySettings, SenderPolicy, SenderStanding


def policy(stakes: dict[str, int], **settings: object) -> SenderPolicy:
    made = SenderPolicy(PolicySettings(max_tasks=8, per_sender=8, burst=100, **settings))
    made.update({hotkey: SenderStanding(True, stake) for hotkey, stake in stakes.items()})
    return made


def refusal(made: SenderPolicy, sender: str) -> str | None:
    try:
        with made.admit(sender):
            return None
    except WeighbeamError as fault:
        return fault.code


def test_the_last_quarter_is_kept_for_the_upper_half_by_stake() -> None:
    made = policy({"poor": 1, "lesser": 2, "richer": 3, "rich": 4})
    with ExitStack() as stack:
        for _ in range(5):
            stack.enter_context(made.admit("poor"))
        assert refusal(made, "poor") is None
        stack.enter_context(made.admit("poor"))
        assert [refusal(made, name) for name in ("poor", "lesser", "richer", "rich")] == ["busy", "busy", None, None]
        stack.enter_context(made.admit("rich"))
        stack.enter_context(made.admit("richer"))
        assert [refusal(made, name) for name in ("poor", "rich")] == ["busy", "busy"]
    assert refusal(made, "poor") is None


def test_equal_stakes_are_equal_and_the_allow_list_goes_first() -> None:
    made = policy({"a": 5, "b": 5, "c": 5})
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(made.admit("a"))
    made = policy({"poor": 1, "rich": 2}, allow=frozenset(["friend", "poor"]))
    with ExitStack() as stack:
        for _ in range(6):
            stack.enter_context(made.admit("rich"))
        assert refusal(made, "friend") is None
        assert refusal(made, "poor") is None


def test_those_who_may_not_ask_do_not_raise_the_bar() -> None:
    made = policy({"poor": 1, "denied": 9, "banned": 9}, deny=frozenset(["denied", "banned"]))
    with ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(made.admit("poor"))
        assert refusal(made, "denied") == "not_allowed"


@pytest.mark.parametrize(("age", "code"), [(3600.0, None), (3600.1, "not_allowed")])
def test_a_metagraph_counts_for_an_hour(age: float, code: str | None) -> None:
    now = 0.0
    made = SenderPolicy(PolicySettings(allow=frozenset(["friend"])), now=lambda: now)
    made.update({"known": SenderStanding(True, 1)})
    now = age
    assert refusal(made, "known") == code
    assert refusal(made, "friend") is None
