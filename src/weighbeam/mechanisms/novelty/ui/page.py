"""Novelty on pages and in tables."""

from weighbeam.mechanism.page import MechanismPage
from weighbeam.mechanisms.novelty.ui.texts import list_texts

PAGE = MechanismPage(
    lead="Contributors are paid for text unlike everything before. The standing is recent earnings.",
    parts={},
    token_units="base_units",
    home="/novelty",
    texts=list_texts,
    standing="earned",
    legend="score and earned: tokens, tenfold for every 0.05 that similarity to everything before falls",
)
