"""The constants of docs/spec/inference.md § 2, by the same names, and those of weigh-in.md § 9 that concern asking."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from weighbeam.mechanism.params import Params, Values, about, before, read_by

MAX_ANSWER_BYTES = 65_536
MAX_PROMPT = 200_000

Count = Annotated[int, Field(ge=1, le=1_000_000)]
Share = Annotated[float, Field(ge=0, le=1)]
NotNegative = Annotated[float, Field(ge=0, le=1_000_000)]
Cosine = Annotated[float, Field(ge=-1, le=1)]


class InferenceParams(Params):
    """How answers are judged, compared and paid."""

    presets: ClassVar[Mapping[str, Values]] = {
        "seed": {
            "reading": "literal",
            "contradiction": False,
            "quorum": 0.0,
            "duplicate_min_code_words": 0,
            "borrowing": False,
            "calibration": False,
            "equal_at_zero": False,
            "reference_share": 0.0,
        }
    }

    reading: Annotated[
        Literal["kinds", "literal"],
        about("kinds: answers are read by the kind of their question; literal: all alike"),
        read_by("observe", "score"),
        before("literal"),
    ] = "kinds"
    contradiction: Annotated[
        bool,
        about("answers that contradict each other, or that the others deny, agree less, by the entailment sense"),
        read_by("observe"),
        before(False),
    ] = True
    quorum: Annotated[
        Share,
        about("least share of the votes that a consensus of short answers holds; below it there is none"),
        read_by("score"),
        before(0.0),
    ] = 0.5
    borrowing: Annotated[
        bool,
        about("in open questions, word for word what earlier answers said is not paid"),
        read_by("score"),
        before(False),
    ] = True
    calibration: Annotated[
        bool,
        about("claimed confidence pays most if it is the share of other answers that score less"),
        read_by("score"),
        before(False),
    ] = True
    equal_at_zero: Annotated[
        bool,
        about("equal answers to a question at temperature 0 are not copies: each keeps its pay"),
        read_by("score"),
        before(False),
    ] = True
    clustering: Annotated[bool, about("split answers into clusters; off: all kept ones are one"), read_by("score")] = (
        True
    )
    weighted_scoring: Annotated[
        bool, about("count the confidence a miner claims; off: 0.5 for all"), read_by("score")
    ] = True
    outlier_detection: Annotated[bool, about("remove outliers by LOF"), read_by("score")] = True
    quality_filtering: Annotated[bool, about("remove answers that are short beside the others"), read_by("score")] = (
        True
    )
    quality_sensitivity: Annotated[
        Share, about("length below which an answer is too short; lower is stricter"), read_by("score")
    ] = 0.5
    quality_threshold: Annotated[
        Share, about("an answer of less quality is flagged and earns nothing"), read_by("score")
    ] = 0.35
    consensus_threshold: Annotated[float, about("the score that consensus must exceed"), read_by("score")] = 0.7
    lambda_factor: Annotated[float, about("weight of the spread in the consensus score"), read_by("score")] = 1.0
    heatmap: Annotated[bool, about("draw the similarity of each round"), read_by()] = True
    polarity_clustering: Annotated[bool, about("consensus must agree on yes or no too"), read_by("score")] = False
    min_miners: Annotated[Count, about("fewer answers received: the round is void"), read_by("choose", "score")] = 3
    max_miners: Annotated[Count, about("miners asked per round"), read_by("choose")] = 10
    min_stake_rao: Annotated[int, about("least stake to be asked; 0 = any", ge=0), read_by("choose")] = 100 * 10**9
    timeout_seconds: Annotated[float, about("hard limit in seconds", gt=0, le=86_400), read_by("ask", "score")] = 120.0
    max_answer_words: Annotated[
        Count, about("an answer of more words is too large; the question tells it"), read_by("ask", "observe")
    ] = 2000
    diversity_max: Annotated[
        Share, about("most a good answer outside the cluster gains, of 100 points"), read_by("score")
    ] = 0.15
    consensus_multiplier: Annotated[
        NotNegative, about("pay of members when consensus is achieved"), read_by("score")
    ] = 1.2
    bonus_max: Annotated[NotNegative, about("most the best answer gains for its lead"), read_by("score")] = 0.5
    bonus_scale: Annotated[NotNegative, about("how fast that gain grows, per point of lead"), read_by("score")] = 0.1
    high_quality: Annotated[Share, about("quality that protects an outlier and earns diversity"), read_by("score")] = (
        0.55
    )
    lof_limit: Annotated[NotNegative, about("LOF above which an answer is an outlier"), read_by("score")] = 1.5
    lof_min_voices: Annotated[int, about("fewer different answers: no outliers", ge=3), read_by("score")] = 4
    lof_floor: Annotated[NotNegative, about("least distance between two answers in LOF"), read_by("score")] = 0.35
    cluster_distance: Annotated[float, about("clusters closer than this merge", ge=0, le=2), read_by("score")] = 0.5
    duplicate_cosine: Annotated[Cosine, about("least cosine of two copies"), read_by("score")] = 0.97
    duplicate_overlap: Annotated[Share, about("least share of common word triples of two copies"), read_by("score")] = (
        0.6
    )
    duplicate_min_words: Annotated[int, about("shorter copies keep their full pay", ge=0), read_by("score")] = 12
    duplicate_min_code_words: Annotated[
        int,
        about("where code is asked for, shorter answers are copies only if they are equal", ge=0),
        read_by("score"),
        before(0),
    ] = 150
    garbage_quality: Annotated[Share, about("a cluster of less mean quality raises an alert"), read_by("score")] = 0.4
    polarity_agreement: Annotated[Share, about("least share of one label"), read_by("score")] = 0.8
    out_penalty: Annotated[Share, about("factor on the similarity of a removed answer"), read_by("score")] = 0.75
    speed_floor_seconds: Annotated[NotNegative, about("faster counts as this"), read_by("score")] = 0.05
    speed_floor_share: Annotated[
        Share, about("faster than this share of the median counts as it"), read_by("score")
    ] = 0.25
    speed_min: Annotated[NotNegative, about("least factor of speed"), read_by("score")] = 0.5
    speed_max: Annotated[NotNegative, about("greatest factor of speed"), read_by("score")] = 1.5
    score_threshold: Annotated[
        Share, about("share of a member's points below which the best is of low confidence"), read_by("score")
    ] = 0.7

    reference_share: Annotated[
        Share, about("share of the validator's own rounds with a known right answer"), read_by("ask"), before(0.0)
    ] = 0.0
    reference_entailment: Annotated[
        bool,
        about("ask reference tasks that the entailment sense judges too"),
        read_by("ask", "observe"),
        before(False),
    ] = False
    wrong_factor: Annotated[Share, about("what a wrong answer keeps of its score"), read_by("score")] = 0.1
    truth_alpha: Annotated[
        float, about("weight of the newest reference round in a miner's truth", gt=0, le=1), read_by("stand")
    ] = 0.2
    truth_enough: Annotated[
        float, about("a miner's truth from which its pay is not reduced", gt=0, le=1), read_by("stand")
    ] = 0.75
    truth_power: Annotated[
        float,
        about("power of a miner's truth, as a part of enough, that multiplies its pay", ge=0, le=10),
        read_by("stand"),
    ] = 6.0

    @model_validator(mode="after")
    def _check_speed(self) -> "InferenceParams":
        if self.speed_min > self.speed_max:
            raise ValueError("speed_min is above speed_max")
        return self
