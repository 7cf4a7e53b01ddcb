"""Small rounds with every kind of answer, on pages of the project's own archive, for the conformance checks."""

from collections.abc import Sequence

from weighbeam.mechanism.records import Answer, Asked, Group, Reply, Task

MOON = "https://www.riverwatch.example/tides/moon-and-sea"
GUIDE = "https://www.highridgeobservatory.example/guides/two-tides-a-day"
STATEMENT = "It is chiefly the Moon that makes the sea rise and fall."
EXCERPT = (
    "The main cause of the tides is the gravity of the Moon, which pulls a little harder on the side"
    " of the Earth that faces it."
)
OTHER = (
    "Tides on Earth are raised mostly by the Moon, with the Sun contributing a smaller part of about"
    " 46 per cent of the lunar effect."
)
ExampleAnswer = tuple[str, object, float, Reply]


def example_rounds() -> Sequence[Asked]:
    """Two rounds: one with every way to fail before a page is judged, one in which hardly anybody answered."""
    quote = {"url": MOON, "excerpt": EXCERPT}
    given: list[ExampleAnswer] = [
        ("quoter", {"snippets": [quote, {"url": GUIDE, "excerpt": OTHER}]}, 2.0, "ok"),
        ("copier", {"snippets": [quote]}, 3.0, "ok"),
        ("parrot", {"snippets": [{"url": MOON, "excerpt": STATEMENT}]}, 1.0, "ok"),
        ("insecure", {"snippets": [{"url": "http://www.riverwatch.example/", "excerpt": EXCERPT}]}, 1.0, "ok"),
        ("searcher", {"snippets": [{"url": "https://www.google.com/search?q=moon", "excerpt": EXCERPT}]}, 1.0, "ok"),
        ("inward", {"snippets": [{"url": "https://127.0.0.1/", "excerpt": EXCERPT}]}, 1.0, "ok"),
        ("terse", {"snippets": [{"url": MOON, "excerpt": "the Moon"}]}, 1.0, "ok"),
        ("stray", {"snippets": [7, {"url": 7}, {}, quote, quote, quote, quote]}, 1.0, "ok"),
        ("empty", {"snippets": []}, 1.0, "ok"),
        ("shapeless", {"quotes": [quote]}, 1.0, "ok"),
        ("no-object", ["snippets"], 1.0, "ok"),
        ("silent", None, 120.0, "timeout"),
        ("broken", None, 1.0, "malformed"),
        ("our-fault", {"snippets": [quote]}, 1.0, "validator_error"),
    ]
    few: list[ExampleAnswer] = [("silent", None, 120.0, "unreachable"), ("empty", {"snippets": []}, 0.1, "ok")]
    return _round("example-1", given), _round("example-2", few)


def _round(name: str, given: Sequence[ExampleAnswer]) -> Asked:
    answers = tuple(Answer(hotkey, payload, seconds, status) for hotkey, payload, seconds, status in given)
    task = Task(name, {"statement": STATEMENT})
    return Asked(task, Group(tuple(a.hotkey for a in answers)), answers, f"seed-of-{name}")
