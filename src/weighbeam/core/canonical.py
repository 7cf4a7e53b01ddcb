"""Canonical JSON: equal records have equal bytes and equal hashes."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from weighbeam.core.errors import WeighbeamError, require

Json: TypeAlias = "str | int | float | bool | Sequence[Json] | Mapping[str, Json] | None"


def canonical_json(value: Json) -> bytes:
    """UTF-8 JSON with sorted keys and no blanks; NaN and infinity are refused.

    >>> canonical_json({"b": [1, 2.0], "a": None})
    b'{"a":null,"b":[1,2.0]}'
    """
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8")


def parse_first_value(data: bytes, key: str) -> Json:
    """The value of a canonical object's first key, without parsing what follows it.

    >>> parse_first_value(b'{"a":[1],"b":null}', "a")
    [1]
    """
    opening = canonical_json({key: None}).removesuffix(b"null}")
    try:
        require(data.startswith(opening), "bad_record", f"a record does not begin with {key!r}", "restore a backup")
        value: Json = json.JSONDecoder().raw_decode(data.decode("utf-8"), len(opening.decode()))[0]
    except ValueError as fault:
        raise WeighbeamError("bad_record", f"a record is not valid JSON: {fault}", "restore a backup") from None
    return value


def digest_json(value: Json) -> str:
    """SHA-256 of the canonical JSON, in hex."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def digest_text(text: str) -> str:
    """SHA-256 of a text's UTF-8, in hex. Lone surrogates keep a digest of their own.

    >>> digest_text("")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def seeded_digest(seed: str | int, *rest: str | int) -> str:
    """SHA-256 of `"{seed}:{rest…}"` in hex: how every seeded choice is made.

    >>> seeded_digest(5, "group") == seeded_digest("5", "group")
    True
    """
    return digest_text(":".join(str(part) for part in (seed, *rest)))


SHARE_DIGITS = 13
"""Hexadecimal digits of a digest that a share is compared with: 52 bits, which a float holds exactly."""


def is_in_share(share: float, seed: str | int, what: str) -> bool:
    """Whether a seed is among the share of all seeds for which `what` happens.

    >>> is_in_share(0.0, "a", "reference"), is_in_share(1.0, "a", "reference")
    (False, True)
    """
    return int(seeded_digest(seed, what)[:SHARE_DIGITS], 16) < share * (1 << 4 * SHARE_DIGITS)
