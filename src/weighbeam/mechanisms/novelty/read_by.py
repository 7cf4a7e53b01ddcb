"""Which verbs each parameter of novelty is read by: what a backtest may change, and what was observed under it."""

from collections.abc import Mapping

from weighbeam.mechanisms.contract import ReadBy

READ_BY: Mapping[str, ReadBy] = {
    "reference_similarity": ReadBy(("score",)),
    "min_reward": ReadBy(("score",)),
    "reward_factor": ReadBy(("score",)),
    "similarity_step": ReadBy(("score",)),
    "max_reward": ReadBy(("score",)),
    "base_units": ReadBy(("score",)),
    "min_words": ReadBy(("observe",)),
    "max_chars": ReadBy(("observe",)),
    "piece_words": ReadBy(("observe",)),
    "gate": ReadBy(("observe", "score")),
    "prose": ReadBy(("observe",)),
    "window_hours": ReadBy(("stand",)),
}
