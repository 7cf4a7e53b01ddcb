"""Integers as planes come back as they were, whatever lies around them, and runs that do not fit are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbeam.core.pack import pack
from weighbeam.core.planes import Run, find_runs, join_planes, split_planes
from weighbeam.core.zstd import compress_each

WHOLE = {width: st.integers(-(2 ** (8 * width - 1)), 2 ** (8 * width - 1) - 1) for width in (2, 4, 8)}


@st.composite
def arrays(draw: st.DrawFn) -> dict[str, np.ndarray]:
    def draw_array(kind: str) -> np.ndarray:
        if kind == "f8":
            return np.array(draw(st.lists(st.floats(allow_nan=False), max_size=5)), "<f8")
        if kind == "u1":
            return np.array(draw(st.lists(st.integers(0, 255), max_size=5)), "u1")
        rows = draw(st.integers(0, 4))
        wanted = 3 * rows
        numbers = draw(st.lists(WHOLE[int(kind[1])], min_size=wanted, max_size=wanted))
        return np.array(numbers, f"<{kind}").reshape(rows, 3)

    kinds = draw(st.dictionaries(st.text(max_size=3), st.sampled_from(["i2", "i4", "i8", "f8", "u1"]), max_size=4))
    return {name: draw_array(kind) for name, kind in kinds.items() if "\\ud" not in ascii(name)}


@given(arrays(), st.text(max_size=9).filter(lambda text: "\\ud" not in ascii(text)))
def test_what_is_split_comes_back(given_arrays: dict[str, np.ndarray], fact: str) -> None:
    data = pack({"fact": fact}, given_arrays)
    runs = find_runs(given_arrays, len(data))
    assert sum(run.width * run.count for run in runs) == sum(
        array.nbytes for array in given_arrays.values() if array.dtype.kind == "i"
    )
    split = split_planes(data, runs)
    assert len(split) == len(data)
    assert join_planes(split, runs) == data


def test_vectors_take_a_third_less() -> None:
    vectors = (np.random.default_rng(1).normal(size=(200, 384)) * 51_000).astype("<i4")
    data = pack({}, {"vectors": vectors})
    plain, planes = (
        len(next(compress_each([one], 3))) for one in (data, split_planes(data, find_runs({"v": vectors}, len(data))))
    )
    assert planes < 0.85 * plain
    assert planes < 0.6 * len(data)


@pytest.mark.parametrize(
    "runs",
    [
        [Run(0, 4, 6)],
        [Run(21, 2, 0)],
        [Run(0, 3, 1)],
        [Run(0, 0, 5)],
        [Run(0, 4, 2**63)],
        [Run(8, 4, 2), Run(0, 4, 1)],
        [Run(0, 4, 3), Run(8, 4, 1)],
    ],
)
def test_runs_that_do_not_fit_are_refused(runs: list[Run]) -> None:
    with pytest.raises(ValueError, match="does not fit 20 bytes"):
        join_planes(bytes(20), runs)
