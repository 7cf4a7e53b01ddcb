"""What would this answer get? The validator's own path, on a question from a file."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.mechanisms.contract import (
    Asked,
    Mechanism,
    Node,
    Observation,
    Params,
    Scored,
    hash_params,
    make_params,
)
from weighbeam.senses.ports import Senses


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A question, observed and scored."""

    mechanism: Mechanism
    params: Params
    asked: Asked
    observation: Observation
    scored: Scored

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


def score_question(
    mechanism: Mechanism, data: Any, senses: Senses, overrides: Mapping[str, Any] | None = None
) -> WhatIf:
    """Score the answers of a question exactly as a round would."""
    params = make_params(mechanism, overrides)
    asked = mechanism.read_question(data)
    observation = mechanism.observe(params, asked, senses)
    return WhatIf(mechanism, params, asked, observation, mechanism.score(params, observation))
