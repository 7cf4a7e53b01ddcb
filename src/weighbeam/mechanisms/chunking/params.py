"""The constants of docs/spec/chunking.md § 2, by the same names."""

from typing import Annotated, Any, Literal

from pydantic import Field

from weighbeam.mechanisms.contract import Params

MAX_DOCUMENT = 1_000_000
DEFAULT_CHUNK_SIZE = 4096

Count = Annotated[int, Field(ge=1)]
NotNegative = Annotated[float, Field(ge=0, le=1_000_000)]
Share = Annotated[float, Field(gt=0, le=1)]


def about(text: str, **limits: Any) -> Any:
    return Field(description=text, **limits)


class ChunkingParams(Params):
    """How chunkings are judged, ranked and paid."""

    num_embeddings: Annotated[Count | None, about("segments embedded per answer; null = all")] = 150
    segment_sentences: Annotated[Count, about("sentences per segment")] = 3
    window_words: Annotated[Count, about("words per window of 'all words present'")] = 3
    time_soft_max: Annotated[NotNegative, about("soft limit in seconds of a task that names none")] = 3.75
    timeout: Annotated[float, about("hard limit in seconds", gt=0)] = 20.0
    base: Annotated[float, about("penalty base", ge=0.5, le=1)] = 2 / 3
    size_factor: Annotated[NotNegative, about("exponent per 100 % of excess length")] = 10.0
    qty_factor: Annotated[NotNegative, about("exponent per 100 % of excess chunks")] = 100.0
    max_exponent: Annotated[float, about("cap of the exponent", ge=0, le=1000)] = 1000.0
    shape: Annotated[Literal["signed", "literal", "exp"], about("how penalties meet similarity")] = "signed"
    strict: Annotated[bool, about("chunks must tile the document word by word")] = False
    answer_factor: Annotated[float, about("size cap of an answer", gt=0)] = 4.0
    splitter: Annotated[Literal["rules", "punkt"], about("sentence splitter")] = "rules"
    group_size: Annotated[Count, about("miners per group")] = 25
    ties: Annotated[Literal["average", "best"], about("the place that equals share")] = "average"
    alpha: Annotated[Share, about("weight of the new rank")] = 0.15
    rank_values: Annotated[Literal["start", "overlap"], about("the base of a group's ranks")] = "start"
    alpha_min: Annotated[Share | None, about("alpha of the first group; null = the same for all")] = None
    tie_alpha: Annotated[Literal["none", "halve", "divide"], about("alpha of shared places")] = "none"
    curve: Annotated[float, about("weight ratio of neighbours", gt=0, lt=1)] = 0.5
