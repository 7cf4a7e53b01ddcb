"""What a miner signed can be written again from the journal, whoever's encoder wrote it."""

import json
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from weighbeam.network.replies import RAW, SORTED, bind_body, encode_reply_body, find_body_fault
from weighbeam.network.signatures import digest_body

ROUND = "r1"
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**12), 10**12)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)


def bind(body: bytes, payload: Any) -> dict[str, str]:
    return bind_body({"body": digest_body(body)}, body, ROUND, payload)


def restore(value: Any) -> Any:
    """As the journal gives it back: the order of keys is lost."""
    return json.loads(json.dumps(value, sort_keys=True))


@given(JSON)
def test_replies_of_our_own_miners_are_written_again(payload: Any) -> None:
    body = encode_reply_body({"round": ROUND, "payload": payload})
    proof = bind(body, json.loads(body)["payload"])
    assert proof["form"] == SORTED
    assert "raw" not in proof
    assert find_body_fault(proof, ROUND, restore(payload)) is None


@given(st.dictionaries(st.text(max_size=5), st.integers(), min_size=1, max_size=4))
def test_replies_of_other_encoders_are_kept_as_they_came(payload: dict[str, int]) -> None:
    body = json.dumps({"round": ROUND, "payload": payload}, indent=1, ensure_ascii=False).encode()
    proof = bind(body, payload)
    assert proof["form"] == RAW
    assert find_body_fault(proof, ROUND, restore(payload)) is None


@pytest.mark.parametrize("indent", [None, 2])
def test_another_payload_is_not_what_was_signed(indent: int | None) -> None:
    payload = {"b": 1, "a": ["x"]}
    said = {"round": ROUND, "payload": payload}
    body = encode_reply_body(said) if indent is None else json.dumps(said, indent=indent).encode()
    proof = bind(body, payload)
    assert find_body_fault(proof, ROUND, {"b": 2, "a": ["x"]}) == "it is not what the miner signed"
    assert find_body_fault(proof, "r2", payload) == "it is not what the miner signed"
    if indent is not None:
        forged = {**proof, "raw": json.dumps({"round": ROUND, "payload": {"b": 2}})}
        assert find_body_fault(forged, ROUND, {"b": 2}) == "the reply that is kept is not the one the miner signed"


def test_older_proofs_say_nothing_of_the_body() -> None:
    assert find_body_fault({"body": "0" * 64}, ROUND, {"any": "thing"}) is None
