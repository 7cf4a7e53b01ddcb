"""The texts that a miner contributed in a round, each with what came of it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from weighbeam.core.quantise import MILLION
from weighbeam.mechanism.page import AnswerText

MAX_TEXTS = 50
GONE = "(The text was withdrawn, or it is a user's, which operators alone see.)"


def list_texts(store: Any, _task: Mapping[str, Any], payload: Any) -> Sequence[AnswerText]:
    """Texts of miners are read by all who may read, as their answers are elsewhere; those of an app's users are not."""
    from weighbeam.mechanisms.novelty.desk.accounts import select_texts

    rows = list(_list_contributions(payload))[:MAX_TEXTS]
    texts = select_texts(store, [int(row["id"]) for row in rows])
    return [AnswerText(texts.get(int(row["id"]), GONE), describe(row)) for row in rows]


def _list_contributions(payload: Any) -> Iterator[Mapping[str, Any]]:
    given = payload.get("contributions") if isinstance(payload, Mapping) else None
    for row in given if isinstance(given, list) else ():
        if isinstance(row, Mapping) and str(row.get("id", "")).isdecimal() and len(str(row["id"])) < 19:
            yield row


def describe(row: Mapping[str, Any]) -> str:
    """
    >>> describe({"id": "61", "status": "paid", "micro": 368171, "nearest": "19"})
    'no. 61 · paid · cosine 0.368 to no. 19'
    """
    said = [f"no. {row['id']}", str(row.get("status") or "")]
    if isinstance(row.get("micro"), int) and row.get("nearest") is not None:
        said.append(f"cosine {row['micro'] / MILLION:.3f} to no. {row['nearest']}")
    return " · ".join(part for part in said if part)
