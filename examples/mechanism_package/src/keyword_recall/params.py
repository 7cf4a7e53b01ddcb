"""What an owner may change; the hash of all of it is part of every round."""

from pydantic import Field

from weighbeam.mechanisms.contract import Params


class RecallParams(Params):
    words_per_keyword: int = Field(8, ge=1, description="words an answer may have per keyword before length costs")
    alpha: float = Field(0.2, gt=0, le=1, description="weight of the newest score in a standing")
    timeout: float = Field(10.0, gt=0, description="seconds a miner has to answer")
