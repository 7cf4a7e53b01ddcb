"""The constants of docs/spec/novelty.md § 1, by the same names."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import field_validator, model_validator

from weighbeam.core.stats import parse_decimal
from weighbeam.mechanism.params import Params, Values, about, before, read_by
from weighbeam.mechanisms.novelty.scale import IDENTITY, expand_scale

MAX_UNITS = 9 * 10**12
"""The most units one contribution may earn: the sum of a round's thousand is still exact in a float."""


NEAREST = 1.0
"""No cosine is higher: a `kin_similarity` above it switches kin off."""


class NoveltyParams(Params):
    """How contributions are compared, judged and paid."""

    presets: ClassVar[Mapping[str, Values]] = {
        "seed": {
            "gate": "off",
            "min_words": 1,
            "piece_words": 10_000,
            "scale": "identity",
            "second_look": False,
            "entailment": False,
            "parts": False,
            "kin_similarity": 2.0,
        }
    }

    reference_similarity: Annotated[
        float,
        about("similarity that pays min_reward; above it nothing is paid", ge=-1, le=1),
        read_by("observe", "score", holds="any"),
    ] = 0.95
    min_reward: Annotated[
        float, about("tokens at the reference", ge=0, le=1e9), read_by("observe", "score", holds="any")
    ] = 0.01
    reward_factor: Annotated[
        float, about("growth per similarity_step", ge=1, le=1e6), read_by("observe", "score", holds="any")
    ] = 10.0
    similarity_step: Annotated[
        float,
        about("how far similarity falls for that growth", ge=1e-6, le=2),
        read_by("observe", "score", holds="any"),
    ] = 0.05
    max_reward: Annotated[float, about("cap in tokens", ge=0, le=1e9), read_by("observe", "score", holds="any")] = 100.0
    base_units: Annotated[
        int, about("integer units per token", ge=1, le=10**12), read_by("observe", "score", holds="any")
    ] = 1_000_000_000
    scale: Annotated[
        str,
        about("how the embedder's cosines read on the curve: identity, minilm-2, or NAME: and five numbers"),
        read_by("observe", "score", holds="any"),
        before("identity"),
    ] = "minilm-2: 0.6975 0.12 0.6725 0.75 4"
    second_look: Annotated[
        bool,
        about("compare texts with the nearest few word by word, after undoing their spelling"),
        read_by("observe", "score", holds="lowered"),
        before(False),
    ] = True
    entailment: Annotated[
        bool,
        about("where it decides, ask whether the nearest text and the new one follow from each other"),
        read_by("observe", "score", holds="lowered"),
        before(False),
    ] = True
    parts: Annotated[
        bool,
        about("pay only for the sentences and runs of a text that are new"),
        read_by("observe", "score"),
        before(False),
    ] = True
    kin_similarity: Annotated[
        float,
        about(
            "contributions of one contributor at least this similar share one max_reward per window; 2 for never",
            ge=-1,
            le=2,
        ),
        read_by("observe", "score", holds="raised"),
        before(2.0),
    ] = 0.25
    min_words: Annotated[int, about("fewer words are refused", ge=1, le=1000), read_by("observe")] = 3
    max_chars: Annotated[int, about("more characters are refused", ge=1, le=1_000_000), read_by("observe")] = 20_000
    piece_words: Annotated[
        int, about("longer texts are compared piece by piece", ge=2, le=10_000), read_by("observe")
    ] = 160
    gate: Annotated[
        Literal["hold", "deny", "off"], about("what happens to implausible text"), read_by("observe", "score")
    ] = "hold"
    prose: Annotated[
        bool, about("contributions are English prose; false for code, tables, other languages"), read_by("observe")
    ] = True
    window_hours: Annotated[float, about("hours that rewards count for weights", gt=0, le=8760), read_by("stand")] = (
        24.0
    )

    @property
    def wants_facts(self) -> bool:
        """Whether more than the nearest cosine decides."""
        return self.second_look or self.parts or self.scale != IDENTITY or self.kin_similarity <= NEAREST

    @property
    def wants_entailment(self) -> bool:
        """Whether a second look asks what follows from what."""
        return self.second_look and self.entailment

    @model_validator(mode="before")
    @classmethod
    def _parse_whole(cls, given: Any) -> Any:
        """A factor of 10 is one of 10.0: JSON writes both."""
        if not isinstance(given, dict):
            return given
        floats = {name for name, field in cls.model_fields.items() if field.annotation is float}
        return {
            name: float(value) if name in floats and type(value) is int and abs(value) < 2**53 else value
            for name, value in given.items()
        }

    @field_validator("scale")
    @classmethod
    def _expand(cls, written: str) -> str:
        return expand_scale(written)

    @model_validator(mode="after")
    def _check_reward(self) -> "NoveltyParams":
        if self.max_reward < self.min_reward:
            raise ValueError("max_reward is below min_reward")
        if parse_decimal(self.max_reward) * self.base_units > MAX_UNITS:
            raise ValueError(f"max_reward is more than {MAX_UNITS} units")
        return self
