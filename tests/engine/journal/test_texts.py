"""Texts of a round as one content: they come back, whatever they are, and what is none is refused."""

import struct
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.canonical import digest_text
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal import encoding
from weighbeam.engine.journal.encoding import encode_texts, parse_texts

ANY_TEXT = st.text(st.characters(), max_size=20) | st.text("\ud800\udfff\x00é漢", max_size=5)


@given(st.lists(ANY_TEXT, max_size=12))
def test_texts_come_back_by_digest(texts: list[str]) -> None:
    content = encode_texts(texts)
    if content is None:
        assert not texts
        return
    assert parse_texts(content) == {digest_text(text): text for text in texts}
    assert encode_texts(reversed(texts)) == content


@given(st.binary(max_size=60))
def test_what_holds_no_texts_is_refused_or_read(content: bytes) -> None:
    for given_bytes in (content, b"WBT1" + content):
        with suppress(WeighbeamError):
            texts = parse_texts(given_bytes)
            assert encode_texts(texts.values()) == given_bytes or not texts


@pytest.mark.parametrize(
    "content",
    [
        b"WBT1" + struct.pack("<I", 2**32 - 1) + bytes(400),
        b"WBT1" + struct.pack("<III", 2, 1, 1) + b"ba",
        b"WBT1" + struct.pack("<III", 2, 1, 1) + b"aa",
        b"WBT1" + struct.pack("<II", 1, 2**31) + b"a",
        b"WBT1" + struct.pack("<II", 1, 1) + b"ab",
        b"WBT1" + struct.pack("<II", 1, 1) + b"\xff",
        b"WBT2" + struct.pack("<II", 1, 1) + b"a",
    ],
)
def test_counts_lengths_and_order_are_checked(content: bytes) -> None:
    with pytest.raises(WeighbeamError, match="bad_record"):
        parse_texts(content)


def test_too_many_or_too_long_are_not_put_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encoding, "MAX_TEXTS", 2)
    assert encode_texts(["a", "b"]) is not None
    assert encode_texts(["a", "b", "c"]) is None
    monkeypatch.setattr(encoding, "MAX_TEXTS_BYTES", 18)
    assert encode_texts(["a", "b"]) is not None
    assert encode_texts(["a", "bc"]) is None
