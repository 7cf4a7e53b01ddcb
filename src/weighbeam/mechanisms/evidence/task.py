"""What is asked: a statement, checked before anyone is."""

from collections.abc import Mapping
from typing import Any

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.surrogates import has_lone_surrogate
from weighbeam.mechanisms.evidence.clean import clean_text
from weighbeam.mechanisms.evidence.forms import has_letter, read_words

MOST_CHARACTERS = 1000


def read_statement(body: Mapping[str, Any]) -> str:
    """The statement of a task's body.

    >>> read_statement({"statement": " The sea is salty. "})
    'The sea is salty.'
    """
    given = body.get("statement")
    if not isinstance(given, str):
        raise WeighbeamError("bad_statement", "the statement is not text", "give a string")
    statement = given.strip()
    require(not has_lone_surrogate(statement), "bad_statement", "it holds a lone surrogate", "decode it as UTF-8 first")
    most = len(statement) <= MOST_CHARACTERS
    require(most, "bad_statement", f"it has {len(statement):,} characters", f"give ≤ {MOST_CHARACTERS:,}")
    worded = any(has_letter(word) for word in read_words(clean_text(statement)))
    require(worded, "bad_statement", "the statement has no word", "state something")
    return statement
