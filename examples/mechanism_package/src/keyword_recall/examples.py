"""A round that has everything in it that can come, for `check_mechanism`."""

from weighbeam.mechanisms.contract import Answer, Asked, Group, Task


def example_rounds() -> tuple[Asked, ...]:
    answers = (
        Answer("full", {"text": "The tide turns when the moon pulls."}),
        Answer("half", {"text": "The tide turns."}),
        Answer("wordy", {"text": "tide moon " + "and so on " * 30}),
        Answer("copy", {"text": "The tide turns when the moon pulls."}),
        Answer("empty", {"text": ""}),
        Answer("odd", ["no object"]),
        Answer("silent", None, status="timeout"),
        Answer("our-fault", None, status="validator_error"),
    )
    hotkeys = tuple(answer.hotkey for answer in answers)
    return (Asked(Task("tides", {"keywords": ["tide", "moon"]}), Group(hotkeys), answers, "seed"),)
