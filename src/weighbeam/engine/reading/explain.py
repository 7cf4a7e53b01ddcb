"""Why an answer got what it got, as a tree of JSON."""

from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.what_if import WhatIf
from weighbeam.mechanisms.contract import Node


def explain_answer(result: WhatIf, round_id: str, hotkey: str) -> dict[str, Any]:
    """`{text, children}` of one answer of a round that was recalled from its record."""
    if all(score.hotkey != hotkey for score in result.scored.scores):
        told = f"{hotkey[:100]!r} has no score in {round_id}"
        raise WeighbeamError("unknown_hotkey", told, "see whom the round asked")
    return write_tree(result.explain(hotkey))


def write_tree(node: Node) -> dict[str, Any]:
    """
    >>> write_tree(Node("sum 3", (Node("1"), Node("2"))))["children"][1]
    {'text': '2', 'children': []}
    """
    return {"text": node.text, "children": [write_tree(child) for child in node.children]}
