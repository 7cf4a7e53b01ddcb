"""Paragraphs on two dozen topics, for synthetic documents, lab worlds and tests of any mechanism."""

from functools import cache
from importlib.resources import files

BREAK = "\n\n"


@cache
def load_topics() -> dict[str, tuple[str, ...]]:
    """Paragraphs by topic."""
    folder = files("weighbeam.mechanism") / "topics"
    found = {path.name.removesuffix(".txt"): path.read_text("utf-8") for path in folder.iterdir()}
    return {topic: tuple(found[topic].strip().split(BREAK)) for topic in sorted(found)}
