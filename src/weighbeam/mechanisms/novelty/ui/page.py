"""Novelty on pages and in tables."""

from weighbeam.mechanism.page import MechanismPage
from weighbeam.mechanisms.novelty.ui.texts import list_texts

CONTRIBUTORS, HELD = "/novelty/contributors", "/novelty/held"
PAGE = MechanismPage(
    lead="Contributors are paid for text unlike everything before. The standing is recent earnings.",
    parts={},
    token_units="base_units",
    home="/novelty",
    texts=list_texts,
    app_pages={"Contributions": "/novelty", "Contributors": CONTRIBUTORS, "Held": HELD},
    standing="earned",
    legend="score and earned: tokens, tenfold for every 0.05 that similarity to everything before falls",
)
