"""Novelty on pages and in tables."""

from weighbeam.mechanism.page import MechanismPage

PAGE = MechanismPage(
    lead="Whoever contributes what is unlike everything before is paid. The standing is what was earned lately.",
    parts={},
    token_units="base_units",
    home="/novelty",
    standing="earned",
    legend="score and earned: tokens, tenfold for every 0.05 that similarity to everything before falls",
)
