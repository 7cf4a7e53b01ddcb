"""Leave out of a record whatever may be a user's text or quote one. Pure."""

import re
from collections.abc import Collection, Mapping
from typing import Any

KEY = re.compile(r"[a-z0-9_]{1,40}", re.ASCII)
DIGEST = re.compile(r"[0-9a-f]{64}", re.ASCII)
WITHHELD = "withheld"


def withhold_texts(value: Any, known: Collection[str]) -> Any:
    """The same record with its numbers, and of its texts only hashes and those that are `known`, such as hotkeys.

    A key stays if it is known, or looks like a field's name and not like a host or a sentence.

    >>> withhold_texts({"similarity": 0.5, "said": "my secret", "by": "5Alice"}, {"5Alice"})
    {'similarity': 0.5, 'said': 'withheld', 'by': '5Alice'}
    """
    if isinstance(value, str):
        return value if value in known or DIGEST.fullmatch(value) else WITHHELD
    if isinstance(value, Mapping):
        named = {str(key): inner for key, inner in value.items()}
        return {key: withhold_texts(inner, known) for key, inner in named.items() if key in known or KEY.fullmatch(key)}
    if isinstance(value, (list, tuple)):
        return [withhold_texts(inner, known) for inner in value]
    return value
