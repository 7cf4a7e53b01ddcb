"""JSON from strangers: what is refused before any of it is built."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.errors import WeighbeamError
from weighbeam.network.strict_json import has_few_nodes, parse_strict

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(',:[]{}"\\ab\n', max_size=12),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(',:[]{}"\\ab', max_size=6), inner),
    max_leaves=30,
)


def count(value: object) -> int:
    """Values and keys of a parsed body."""
    if isinstance(value, dict):
        return 1 + sum(1 + count(inner) for inner in value.values())
    return 1 + sum(map(count, value)) if isinstance(value, list) else 1


@given(VALUES, st.booleans())
def test_the_bound_holds_and_texts_do_not_count(value: object, ascii_only: bool) -> None:
    body = json.dumps(value, ensure_ascii=ascii_only).encode()
    nodes = count(value)
    assert not has_few_nodes(body, nodes - 1) or nodes == 1
    assert has_few_nodes(body, 2 * nodes), "each value has a comma, colon or bracket of its own, and a list one more"


def test_prose_is_never_too_many_values() -> None:
    text = 'He said: "a, b, [c], {d}", and \\ "so on": ' * 20_000
    assert parse_strict(json.dumps({"payload": text}).encode(), max_nodes=3) == {"payload": text}


@pytest.mark.parametrize(
    "bomb",
    [b"[],", b"{},", b"1,", b'"",', b'{"a":0},', b'"\\\\",', b'"\\"",[],'],
    ids=["lists", "objects", "numbers", "texts", "members", "backslashes", "quotes"],
)
def test_a_bomb_of_values_costs_no_objects(bomb: bytes) -> None:
    """16 MiB of empty lists used to take 440 MiB."""
    body = b"[" + bomb * ((4 << 20) // len(bomb)) + b"0]"
    tracemalloc.start()
    try:
        with pytest.raises(WeighbeamError, match="too_large"):
            parse_strict(body)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 2 * len(body)
