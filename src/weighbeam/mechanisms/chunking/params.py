"""The constants of docs/spec/chunking.md § 2, by the same names."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from weighbeam.mechanism.params import Params, Values, about, before, read_by

MAX_DOCUMENT = 1_000_000
ANSWER_SLACK = 256
"""Characters added to the document's before `answer_factor` multiplies them."""
DEFAULT_CHUNK_SIZE = 4096

Count = Annotated[int, Field(ge=1)]
NotNegative = Annotated[float, Field(ge=0, le=1_000_000)]
Share = Annotated[float, Field(gt=0, le=1)]


class ChunkingParams(Params):
    """How chunkings are judged, ranked and paid."""

    presets: ClassVar[Mapping[str, Values]] = {
        "seed": {"shape": "literal", "sampling": "chunks", "splitter": "rules", "retrieval_share": 0.0}
    }

    num_embeddings: Annotated[
        Count | None, about("distinct segments embedded per answer; null = all"), read_by("observe")
    ] = 150
    sampling: Annotated[
        Literal["places", "chunks"],
        about("segments: cells of the document, the same for all answers; or from each chunk's start, sampled alone"),
        read_by("observe"),
        before("chunks"),
    ] = "places"
    segment_sentences: Annotated[Count, about("sentences per segment"), read_by("observe")] = 3
    window_words: Annotated[Count, about("words per window of 'all words present'"), read_by("observe")] = 3
    time_soft_max: Annotated[
        NotNegative, about("soft limit in seconds of a task that names none"), read_by("ask", "observe")
    ] = 3.75
    timeout: Annotated[float, about("hard limit in seconds", gt=0), read_by("ask")] = 20.0
    base: Annotated[float, about("penalty base", ge=0.5, le=1), read_by("score")] = 2 / 3
    size_factor: Annotated[NotNegative, about("exponent per 100 % of excess length"), read_by("score")] = 10.0
    qty_factor: Annotated[NotNegative, about("exponent per 100 % of excess chunks"), read_by("score")] = 100.0
    max_exponent: Annotated[float, about("cap of the exponent", ge=0, le=1000), read_by("score")] = 1000.0
    shape: Annotated[Literal["signed", "literal", "exp"], about("how penalties meet similarity"), read_by("score")] = (
        "signed"
    )
    strict: Annotated[bool, about("chunks must tile the document word by word"), read_by("observe")] = False
    answer_factor: Annotated[float, about("size cap of an answer", gt=0), read_by("ask", "observe")] = 4.0
    splitter: Annotated[Literal["adaptive", "rules", "punkt"], about("sentence splitter"), read_by("observe")] = (
        "adaptive"
    )
    group_size: Annotated[Count, about("miners per group"), read_by("choose")] = 25
    ties: Annotated[Literal["average", "best"], about("the place that equals share"), read_by("score")] = "average"
    alpha: Annotated[Share, about("weight of the new rank"), read_by("stand")] = 0.15
    rank_values: Annotated[Literal["start", "overlap"], about("the base of a group's ranks"), read_by("choose")] = (
        "start"
    )
    alpha_min: Annotated[Share | None, about("alpha of the first group; null = the same for all"), read_by("stand")] = (
        None
    )
    tie_alpha: Annotated[Literal["none", "halve", "divide"], about("alpha of shared places"), read_by("stand")] = "none"
    curve: Annotated[float, about("weight ratio of neighbours", gt=0, lt=1), read_by("weigh")] = 0.5

    retrieval_share: Annotated[
        float,
        about("share of the validator's own rounds that carry hidden questions", ge=0, le=1),
        read_by("ask", "score"),
        before(0.0),
    ] = 0.0
    retrieval_weight: Annotated[
        float, about("weight of retrieval in the reward of such a round", ge=0, le=1), read_by("score"), before(0.5)
    ] = 0.5
    retrieval_budget: Annotated[
        float, about("most characters read for a question, in chunk sizes", gt=0, le=100), read_by("score"), before(3.0)
    ] = 3.0
