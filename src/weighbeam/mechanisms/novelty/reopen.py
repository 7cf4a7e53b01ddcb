"""What was decided when contributions came in, decided again under other parameters of the reward.

How near each was to its nearest neighbour is recorded, and so is who was held, released or refused: that stays.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weighbeam.mechanisms.contract import Observation
from weighbeam.mechanisms.novelty.events import Event
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.reward import reward_units


def reopen_round(params: NoveltyParams, observation: Observation) -> Observation:
    rows = [
        {**row, "events": [_reopen(Event.from_json(one), params).as_json() for one in row["events"]]}
        for row in observation.facts["contributors"]
    ]
    facts: Mapping[str, Any] = {**observation.facts, "contributors": rows}
    return Observation(facts, observation.arrays, observation.texts)


def _reopen(event: Event, params: NoveltyParams) -> Event:
    if event.status not in ("paid", "held"):
        return event
    return replace(event, units=reward_units(event.similarity, params))
