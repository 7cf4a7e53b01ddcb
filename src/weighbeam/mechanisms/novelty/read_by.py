"""Which verbs each parameter of novelty is read by: what a backtest may change, and what was observed under it.

The reward was decided when a contribution came in; `reopen` decides it again.
"""

from collections.abc import Mapping

from weighbeam.mechanisms.abilities import ReadBy

READ_BY: Mapping[str, ReadBy] = {
    "reference_similarity": ReadBy(("observe", "score"), "any"),
    "min_reward": ReadBy(("observe", "score"), "any"),
    "reward_factor": ReadBy(("observe", "score"), "any"),
    "similarity_step": ReadBy(("observe", "score"), "any"),
    "max_reward": ReadBy(("observe", "score"), "any"),
    "base_units": ReadBy(("observe", "score"), "any"),
    "min_words": ReadBy(("observe",)),
    "max_chars": ReadBy(("observe",)),
    "piece_words": ReadBy(("observe",)),
    "gate": ReadBy(("observe", "score")),
    "prose": ReadBy(("observe",)),
    "window_hours": ReadBy(("stand",)),
}
