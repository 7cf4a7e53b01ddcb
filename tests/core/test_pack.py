"""Observations survive packing, and damaged ones are refused, never misread."""

from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.canonical import canonical_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.pack import pack, unpack

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
).filter(lambda value: "\\ud" not in ascii(value))


@given(json_values, st.lists(st.integers(-(2**31), 2**31 - 1), max_size=6))
def test_what_is_packed_comes_back(facts, numbers) -> None:
    array = np.array(numbers, dtype=np.int32)
    again, arrays = unpack(pack(facts, {"v": array}))
    assert canonical_json(again) == canonical_json(facts)
    assert np.array_equal(arrays["v"], array)


def test_equal_observations_have_equal_bytes() -> None:
    rows = np.arange(12, dtype=np.int32).reshape(3, 4)
    assert pack({"b": 1, "a": 2}, {"v": rows}) == pack({"a": 2, "b": 1}, {"v": np.asfortranarray(rows)})
    assert pack({}, {"v": rows}) == pack({}, {"v": rows.astype(">i4")})


@given(st.integers(0, 10**6), st.integers(1, 255))
def test_cut_or_changed_bytes_are_refused_or_differ(at: int, change: int) -> None:
    data = pack({"seed": "s", "n": [1, 2, 3]}, {"v": np.arange(8, dtype=np.int32)})
    at %= len(data)
    with pytest.raises(WeighbeamError, match="bad_pack"):
        unpack(data[:at])
    changed = data[:at] + bytes([data[at] ^ change]) + data[at + 1 :]
    with suppress(WeighbeamError):
        facts, arrays = unpack(changed)
        assert pack(facts, arrays) != data


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_never_enters_a_record(value: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        pack({"value": value}, {})


def test_array_types_that_could_run_code_are_refused() -> None:
    with pytest.raises(WeighbeamError, match="bad_array"):
        pack({}, {"v": np.array([{}], dtype=object)})


@pytest.mark.parametrize("header", [b"[" * 100_000, b'{"arrays":[],"facts":NaN}', b"{}", b"[]"])
def test_headers_that_are_none_are_refused(header: bytes) -> None:
    with pytest.raises(WeighbeamError, match="bad_pack"):
        unpack(b"WBO1" + len(header).to_bytes(4, "little") + header)


def test_arrays_are_aligned_wherever_the_header_ends() -> None:
    for blanks in range(8):
        _, arrays = unpack(pack({"a": " " * blanks}, {"v": np.array([[1, 2]], dtype="<i8")}))
        assert arrays["v"].flags.aligned
        assert arrays["v"].tolist() == [[1, 2]]
