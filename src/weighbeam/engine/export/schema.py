"""The tables of an export: names, types and meanings of their columns; `docs/guides/export.md` comes from here.

A published schema only grows: a column keeps its name, type and meaning, and a new one goes to the end of its table.
Anything else is another `FORMAT`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from weighbeam.core.numbers import is_number

FORMAT = "export/1"
Kind = Literal["whole", "number", "flag", "text", "json", "texts", "wholes"]
PARQUET: Mapping[Kind, str] = MappingProxyType(
    {
        "whole": "int64",
        "number": "double",
        "flag": "bool",
        "text": "string",
        "json": "string (JSON)",
        "texts": "list of string",
        "wholes": "list of int64",
    }
)
"""The types as the documentation names them."""
MAX_WHOLE = 2**63


class Unsuitable(ValueError):
    """A value that its column cannot hold, in a record that somebody else may have written."""


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One column. A `json` column holds ASCII only, so that it can carry whatever a miner sent."""

    name: str
    kind: Kind
    meaning: str
    nullable: bool = False

    def suit(self, value: Any) -> Any:
        """The value as it is written; `Unsuitable` if the column cannot hold it.

        >>> ExportColumn("uid", "whole", "").suit(7), ExportColumn("payload", "json", "").suit({"a": "é"})
        (7, '{"a":"\\\\u00e9"}')
        """
        if value is None and self.nullable:
            return None
        match self.kind:
            case "json":
                return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)
            case "texts" | "wholes" if isinstance(value, Sequence) and not isinstance(value, str):
                suit = suit_text if self.kind == "texts" else suit_whole
                return [suit(one) for one in value]
            case "whole":
                return suit_whole(value)
            case "number" if is_number(value):
                return float(value)
            case "flag" if isinstance(value, bool):
                return value
            case "text":
                return suit_text(value)
        raise Unsuitable(f"{self.name} is not {PARQUET[self.kind]}")


def suit_text(value: Any) -> str:
    """A text; half a character, which no Parquet file can hold, is written as an escape.

    >>> suit_text("tide \\ud800")
    'tide \\\\ud800'
    """
    if not isinstance(value, str):
        raise Unsuitable("a value is not text")
    return value.encode("utf-8", "backslashreplace").decode()


def suit_whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not -MAX_WHOLE <= value < MAX_WHOLE:
        raise Unsuitable("a number is not whole, or takes more than 64 bits")
    return value


ENTRY = ExportColumn("entry", "whole", "Number of the journal's entry")
HASH = ExportColumn("hash", "text", "Hash of that entry")
ROUND = ExportColumn("round", "text", "Id of the round")
WEIGH_IN = ExportColumn("weigh_in", "text", "Id of the weigh-in")
MECHANISM = ExportColumn("mechanism", "text", "Name of the mechanism")
TIME = ExportColumn("unix_time", "number", "Seconds since 1970, UTC")
POSITION = ExportColumn("position", "whole", "Place in the record, from 0")
HOTKEY = ExportColumn("hotkey", "text", "Hotkey of the miner")
PARAMS = ExportColumn("params", "json", "Parameters of the mechanism")
OF_ROUND = (ENTRY, ROUND, MECHANISM, TIME, POSITION, HOTKEY)

TABLES: Mapping[str, tuple[ExportColumn, ...]] = MappingProxyType(
    {
        "rounds": (
            ENTRY,
            HASH,
            ROUND,
            MECHANISM,
            TIME,
            ExportColumn("block", "whole", "Block of the chain when the round began"),
            ExportColumn("params_hash", "text", "Hash of the parameters"),
            PARAMS,
            ExportColumn("seed", "json", "Seed of the round: a text or a whole number"),
            ExportColumn("task_id", "text", "Id of the task"),
            ExportColumn("task_kind", "text", "Kind of the task, such as `synthetic` or `organic`"),
            ExportColumn("ranked", "flag", "Whether the round moves standings"),
            ExportColumn("task", "json", "The question, as the mechanism defines it"),
            ExportColumn("asked", "whole", "Miners asked"),
            ExportColumn("valid", "whole", "Answers with status `valid`"),
            ExportColumn("unscored", "whole", "Answers with status `unscored`"),
            ExportColumn("void", "flag", "Whether no answer of the round counts"),
            ExportColumn("departed", "texts", "Hotkeys that left the chain since the round before"),
            ExportColumn(
                "lateness", "json", "How late the validator's own machine was, if that voided the round", True
            ),
            ExportColumn("summary", "json", "Facts that the mechanism recorded of the whole round"),
        ),
        "answers": (
            *OF_ROUND,
            ExportColumn("uid", "whole", "Uid of the miner", True),
            ExportColumn("status", "text", "`ok`, or how the call failed"),
            ExportColumn("seconds", "number", "Response time", True),
            ExportColumn("reason", "text", "Why the call failed", True),
            ExportColumn("payload", "json", "The answer, exactly as recorded", True),
            ExportColumn("proof", "json", "The miner's signature and the digests that it covers", True),
        ),
        "scores": (
            *OF_ROUND,
            ExportColumn("status", "text", "`valid`, `failed` or `unscored`"),
            ExportColumn("value", "number", "The score", True),
            ExportColumn("reasons", "texts", "Codes of the reasons, explained on the mechanism's page"),
            ExportColumn("emission", "number", "Pay for this round, in mechanisms that average emissions", True),
            ExportColumn("parts", "json", "Parts of the score, as the mechanism names them", True),
        ),
        "standings": (
            *OF_ROUND,
            ExportColumn("value", "number", "The standing after the round; null if never ranked", True),
            ExportColumn("detail", "json", "The mechanism's memory of the miner"),
        ),
        "weigh_ins": (
            ENTRY,
            HASH,
            WEIGH_IN,
            MECHANISM,
            TIME,
            ExportColumn("action", "text", "`submit` or `skip`", True),
            ExportColumn("reason", "text", "Why the weigh-in was skipped", True),
            ExportColumn("mode", "text", "Mode of the weigh-in"),
            ExportColumn("blocks", "whole", "Blocks since the validator's last weights"),
            ExportColumn("uniform", "flag", "Whether all eligible miners got the same weight", True),
            ExportColumn("eligible", "whole", "Miners that could be paid"),
            ExportColumn("stale", "texts", "Hotkeys without a recent success"),
            ExportColumn("burn", "json", "Share to burn and who takes it", True),
            PARAMS,
        ),
        "weights": (
            ENTRY,
            WEIGH_IN,
            MECHANISM,
            TIME,
            POSITION,
            HOTKEY,
            ExportColumn("uid", "whole", "Uid of the miner"),
            ExportColumn("raw", "number", "Weight before it is normalised"),
            ExportColumn("last_success_at", "number", "When an answer last counted", True),
            ExportColumn("weight", "number", "Normalised weight, 0 to 1; null if the decision has none", True),
            ExportColumn("value", "whole", "Weight as sent, 0 to 65535; null if none is sent", True),
        ),
        "submissions": (
            ExportColumn("id", "whole", "Number of the submission"),
            MECHANISM,
            TIME,
            ExportColumn("state", "text", "`confirmed` or `failed`"),
            ExportColumn("reason", "text", "Code of the fault", True),
            ExportColumn("message", "text", "The chain's message", True),
            ExportColumn("mode", "text", "Mode of the weigh-in", True),
            ExportColumn("block", "whole", "Block of the plan", True),
            ExportColumn("sent_block", "whole", "Block at which it was sent", True),
            ExportColumn("included_block", "whole", "Block that included it", True),
            ExportColumn("entry_hash", "text", "Hash of the weigh-in's entry", True),
            ExportColumn("uids", "wholes", "Uids, in the order sent"),
            ExportColumn("weights", "wholes", "Weights of these uids, 0 to 65535"),
            ExportColumn("hotkeys", "texts", "Hotkeys of these uids when it was planned"),
            ExportColumn("plan", "json", "The plan and everything recorded since"),
        ),
    }
)
