"""Replies of the reading API for /openapi.json: records of the engine, in pages, with examples."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from weighbeam.engine.views.alert_lines import AlertLine
from weighbeam.engine.views.copies import CopiesLine
from weighbeam.engine.views.leaderboard import LeaderboardLine
from weighbeam.engine.views.miner import MinerView, ScoreLine
from weighbeam.engine.views.rounds import RoundLine
from weighbeam.engine.views.weights import SubmissionLine, WeightsLine
from weighbeam.engine.weights.metagraphs import GraphView

Next = Annotated[str | None, Field(description="`cursor` of the next page; null at the end")]
HOTKEY = "5GrwvaEF5zXb26Fz9rcQpDWS57CtERHpNehXCPcNoHGKutQY"
MECHANISM = "keyword-recall"
ROUND = f"{MECHANISM}-812-5f0c9a1e"
AT = 1_800_000_000.0
HASH = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"


def show_example(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [example]})


LINE = {"id": ROUND, "mechanism": MECHANISM, "state": "scored", "at": AT, "block": 812, "kind": "synthetic"}
SCORE = {"mechanism": MECHANISM, "at": AT, "block": 812, "status": "valid", "value": 0.41, "reasons": []}


class Rounds(BaseModel):
    """Rounds, newest first."""

    model_config = show_example({"rounds": [{**LINE, "answers": 25, "valid": 24}], "next": None})
    rounds: list[RoundLine]
    next: Next


class ExplanationShown(BaseModel):
    """One line of an explanation, and the lines it follows from."""

    model_config = show_example({"text": "reward 0.41", "children": [{"text": "similarity 0.41", "children": []}]})
    text: str
    children: list["ExplanationShown"]


class Explained(BaseModel):
    """One answer: its score with its parts, and why; null where that would tell a user's text."""

    round: str
    mechanism: str
    state: str
    withheld: bool
    hotkey: str
    uid: int | None
    reply: Annotated[str, Field(description="how the miner answered", examples=["ok", "timeout"])]
    reason: str | None
    seconds: float
    status: Literal["valid", "failed", "unscored"] | None
    value: float | None
    reasons: list[str]
    parts: dict[str, Any] | None
    best: bool
    payload: Any
    payload_bytes: int
    name: Annotated[str | None, Field(description="what the miner is called here")] = None
    explanation: ExplanationShown | None


class Scores(BaseModel):
    """A miner's scores, newest first."""

    model_config = show_example({"hotkey": HOTKEY, "scores": [{"round": ROUND, **SCORE}], "next": None})
    hotkey: str
    scores: list[ScoreLine]
    next: Next


class MinerShown(BaseModel):
    """One miner, by mechanism."""

    hotkey: str
    name: Annotated[str | None, Field(description="what it is called: by the settings, a demo's cast or the chain")]
    uid: int | None
    mechanisms: dict[str, MinerView]


class ScoreReceipt(BaseModel):
    """Score of an answer, signed by the validator's hotkey; `weighbeam journal receipts verify` checks it offline."""

    model_config = show_example(
        {
            "format": 1,
            "kind": "score",
            "round": ROUND,
            "hotkey": HOTKEY,
            **SCORE,
            "params_hash": HASH,
            "seed": "41ab",
            "answer_sha256": HASH,
            "entry": HASH,
            "sequence": 17,
            "node": HOTKEY,
            "scheme": "sr25519",
            "signature": "0e" * 64,
        }
    )
    format: Literal[1]
    kind: Literal["score"]
    round: str
    mechanism: str
    hotkey: str
    at: float
    block: int
    status: Literal["valid", "failed", "unscored"]
    value: float | None
    reasons: list[str]
    params_hash: str
    seed: str | int
    answer_sha256: Annotated[str | None, Field(description="of the answer's JSON: sorted keys, no blanks, ASCII")]
    entry: Annotated[str, Field(description="hash of the round's entry in the journal")]
    sequence: int
    node: str
    scheme: Literal["sr25519", "ed25519"]
    signature: str


class MechanismLine(BaseModel):
    model_config = show_example(
        {"name": MECHANISM, "kind": "asked", "better": "higher", "standing": "own", "last_round": ROUND}
    )
    name: str
    kind: Literal["asked", "collected"]
    better: Annotated[Literal["lower", "higher"], Field(description="which standing is the better one")]
    standing: Annotated[Literal["own", "emissions"], Field(description="kept by itself, or averages of emissions")]
    last_round: str | None


class Mechanisms(BaseModel):
    """The mechanisms run here."""

    mechanisms: list[MechanismLine]


class Param(BaseModel):
    model_config = show_example({"name": "alpha", "value": 0.15, "default": 0.15, "about": "weight of the new rank"})
    name: str
    value: Any
    default: Any
    about: str


class ParamsShown(BaseModel):
    """The parameters in force. `params_hash` also names the senses: it is that of the newest round."""

    mechanism: str
    params: list[Param]
    params_hash: str | None
    weighing_hash: Annotated[str, Field(description="hash of parameters and weigh-in settings")]


class Standings(BaseModel):
    """The leaderboard, best first."""

    mechanism: str
    better: Literal["lower", "higher"]
    standings: list[LeaderboardLine]


class WeightsShown(BaseModel):
    """Weights set and to be set, newest first, and how concentrated they are."""

    mechanism: str
    weights: list[WeightsLine]
    next: Next


class Submissions(BaseModel):
    """The submission ledger, newest first."""

    submissions: list[SubmissionLine]
    next: Next


class Metagraphs(BaseModel):
    """The latest metagraph by mechanism; null if none was recorded."""

    metagraphs: dict[str, GraphView | None]


class AlertsShown(BaseModel):
    """Alerts, newest first."""

    model_config = show_example(
        {
            "alerts": [
                {
                    "id": 7,
                    "at": AT,
                    "mechanism": MECHANISM,
                    "code": "weights_late",
                    "level": "warning",
                    "text": "the weights were 600 blocks old",
                    "remedy": "see why they were late",
                }
            ],
            "next": None,
        }
    )
    alerts: list[AlertLine]
    next: Next


class CopiesShown(BaseModel):
    """Duplicate answers, newest first. A page may be short or empty and still have a next one."""

    model_config = show_example(
        {
            "copies": [
                {
                    "round": ROUND,
                    "number": 0,
                    "mechanism": MECHANISM,
                    "at": AT,
                    "hotkeys": [HOTKEY],
                    "cosine": 0.99,
                    "overlap": 0.8,
                }
            ],
            "next": None,
        }
    )
    copies: list[CopiesLine]
    next: Next


class SettingShown(BaseModel):
    model_config = show_example({"name": "service.listen", "value": "127.0.0.1:8080", "origin": "default"})
    name: str
    value: Any
    origin: str


class SettingsShown(BaseModel):
    """Every setting with its value and where it came from; secrets are not shown."""

    settings: list[SettingShown]


class HealthShown(BaseModel):
    """As `/health` tells it."""

    model_config = ConfigDict(extra="allow", json_schema_extra={"examples": [{"version": "0.1.0", "status": "ok"}]})
    version: str
    status: str


class TableShown(BaseModel):
    """A table as JSON; as CSV or Parquet it is a file with the same columns."""

    model_config = show_example(
        {"table": "rounds", "sort": "-at", "filters": {"status": "scored"}, "rows": [{"round": ROUND}], "more": False}
    )
    table: str
    sort: str
    filters: dict[str, str]
    rows: Annotated[list[dict[str, Any]], Field(description="by the names of the columns")]
    more: Annotated[bool, Field(description="whether there are more rows than were read")]
