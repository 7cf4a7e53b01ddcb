"""One spelling for every record, read back without parsing all of it."""

import pytest

from weighbeam.core.canonical import canonical_json, parse_first_value
from weighbeam.core.errors import WeighbeamError


def test_the_first_value_is_read_whatever_follows() -> None:
    assert parse_first_value(canonical_json({"body": "ä", "scored": {"body": 2}}), "body") == "ä"


@pytest.mark.parametrize("data", [b"", b'{"a":1,"body":2}', b'{"body":', b'{"body":"\xff"}', b"[]"])
def test_another_spelling_is_refused(data: bytes) -> None:
    with pytest.raises(WeighbeamError, match="bad_record"):
        parse_first_value(data, "body")
