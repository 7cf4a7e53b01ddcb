"""What would this answer get? The validator's own path, on a question from a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.kept_round import find_mechanism, read_round
from weighbeam.mechanisms.abilities import Tells, Told
from weighbeam.mechanisms.contract import Answer, Mechanism, Node, Observation, Params, Scored
from weighbeam.mechanisms.make_params import hash_params, make_params
from weighbeam.mechanisms.registry import load_mechanism
from weighbeam.pictures.heatmap import Heatmap
from weighbeam.senses.ports import Narrator, Senses
from weighbeam.store.database import Store


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A round, observed and scored: of a question in a file, or out of a journal, with the replies as they came."""

    mechanism: Mechanism
    params: Params
    observation: Observation
    scored: Scored
    answers: tuple[Answer, ...] = ()

    def report(self) -> dict[str, Any]:
        """The JSON of `weighbeam score`."""
        report = self.mechanism.report(self.params, self.observation, self.scored)
        senses = self.observation.facts.get("senses", {})
        return {
            "mechanism": self.mechanism.name,
            **report,
            "params_hash": hash_params(self.mechanism, self.params, senses),
        }

    def explain(self, hotkey: str) -> Node:
        return self.mechanism.explain(self.params, self.observation, self.scored, hotkey)

    def draw(self, name: str) -> Heatmap:
        """The picture of the round; `no_picture` if the mechanism draws none, or there is nothing to draw."""
        drawn = self.mechanism.draw(self.params, self.observation, name) if isinstance(self.mechanism, Tells) else None
        if drawn is None:
            raise WeighbeamError("no_picture", "there is nothing to draw", "give answers to compare")
        return drawn

    def tell(self, picture: str | None, narrator: Narrator | None, nonce: str) -> Told:
        """The round in words; `no_narrative` if the mechanism tells none."""
        if not isinstance(self.mechanism, Tells):
            raise WeighbeamError("no_narrative", f"{self.mechanism.name} tells no narrative", "leave --narrative out")
        return self.mechanism.tell(self.params, self.observation, picture, narrator, nonce)


def score_question(
    mechanism: Mechanism, data: Any, senses: Senses, overrides: Mapping[str, Any] | None = None
) -> WhatIf:
    """Score the answers of a question exactly as a round would."""
    params = make_params(mechanism, overrides)
    asked = mechanism.read_question(data)
    observation = mechanism.observe(params, asked, senses)
    return WhatIf(mechanism, params, observation, mechanism.score(params, observation))


def recall_round(store: Store, round_id: str) -> WhatIf:
    """A committed round of a journal, scored again from what was recorded, with the texts still kept."""
    mechanism = load_mechanism(find_mechanism(store, round_id))
    kept = read_round(store, round_id, mechanism, texts=True)
    return WhatIf(mechanism, kept.params, kept.observation, kept.scored, kept.answers)
