"""Which verbs each parameter of chunking is read by: what a backtest may change, and what was observed under it."""

from collections.abc import Mapping

from weighbeam.mechanisms.abilities import ReadBy

READ_BY: Mapping[str, ReadBy] = {
    "num_embeddings": ReadBy(("observe",)),
    "segment_sentences": ReadBy(("observe",)),
    "window_words": ReadBy(("observe",)),
    "time_soft_max": ReadBy(("ask", "observe")),
    "timeout": ReadBy(("ask",)),
    "base": ReadBy(("score",)),
    "size_factor": ReadBy(("score",)),
    "qty_factor": ReadBy(("score",)),
    "max_exponent": ReadBy(("score",)),
    "shape": ReadBy(("score",)),
    "strict": ReadBy(("observe",)),
    "answer_factor": ReadBy(("observe",)),
    "splitter": ReadBy(("observe",)),
    "group_size": ReadBy(("choose",)),
    "ties": ReadBy(("score",)),
    "alpha": ReadBy(("stand",)),
    "rank_values": ReadBy(("choose",)),
    "alpha_min": ReadBy(("stand",)),
    "tie_alpha": ReadBy(("stand",)),
    "curve": ReadBy(("weigh",)),
}
