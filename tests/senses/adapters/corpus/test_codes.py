"""A row is never further from what its codes stand for than the error says, in exact arithmetic."""

from fractions import Fraction

import pytest

from senses.adapters.corpus.made_rows import KINDS, make_rows
from weighbeam.senses.adapters.corpus.codes import encode_rows


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dimensions", [1, 7, 384])
def test_errors_are_upper_bounds(kind, dimensions):
    rows = make_rows(kind, 12, dimensions, 2)
    coded = encode_rows(rows)
    for row, codes, scale, error in zip(rows, coded.codes, coded.scales, coded.errors, strict=True):
        step = Fraction(float(scale))
        square = sum((int(x) - step * int(code)) ** 2 for x, code in zip(row, codes, strict=True))
        assert square <= Fraction(float(error)) ** 2
        assert float(error) ** 2 <= float(square) * 1.000001
