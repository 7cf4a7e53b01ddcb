"""Which verbs each parameter of inference is read by: what a backtest may change, and what was observed under it."""

from collections.abc import Mapping

from weighbeam.mechanisms.abilities import ReadBy

READ_BY: Mapping[str, ReadBy] = {
    "clustering": ReadBy(("score",)),
    "weighted_scoring": ReadBy(("score",)),
    "outlier_detection": ReadBy(("score",)),
    "quality_filtering": ReadBy(("score",)),
    "quality_sensitivity": ReadBy(("score",)),
    "quality_threshold": ReadBy(("score",)),
    "consensus_threshold": ReadBy(("score",)),
    "lambda_factor": ReadBy(("score",)),
    "heatmap": ReadBy(()),
    "polarity_clustering": ReadBy(("score",)),
    "min_miners": ReadBy(("choose", "score")),
    "max_miners": ReadBy(("choose",)),
    "min_stake_rao": ReadBy(("choose",)),
    "timeout_seconds": ReadBy(("ask", "score")),
    "max_answer_words": ReadBy(("ask", "observe")),
    "diversity_max": ReadBy(("score",)),
    "consensus_multiplier": ReadBy(("score",)),
    "bonus_max": ReadBy(("score",)),
    "bonus_scale": ReadBy(("score",)),
    "high_quality": ReadBy(("score",)),
    "lof_limit": ReadBy(("score",)),
    "lof_min_voices": ReadBy(("score",)),
    "lof_floor": ReadBy(("score",)),
    "cluster_distance": ReadBy(("score",)),
    "duplicate_cosine": ReadBy(("score",)),
    "duplicate_overlap": ReadBy(("score",)),
    "duplicate_min_words": ReadBy(("score",)),
    "garbage_quality": ReadBy(("score",)),
    "polarity_agreement": ReadBy(("score",)),
    "out_penalty": ReadBy(("score",)),
    "speed_floor_seconds": ReadBy(("score",)),
    "speed_floor_share": ReadBy(("score",)),
    "speed_min": ReadBy(("score",)),
    "speed_max": ReadBy(("score",)),
    "score_threshold": ReadBy(("score",)),
}
