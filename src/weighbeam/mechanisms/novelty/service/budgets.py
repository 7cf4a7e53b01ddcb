"""The budgets of the settings, in units; commands read them too, so nothing of the service is imported."""

from decimal import Decimal
from fractions import Fraction

from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.settings import NoveltySection


def make_limits(loaded: LoadedSettings, params: NoveltyParams) -> PayLimits:
    """The limits in units, exactly as they are written in tokens."""
    section = loaded.section(NoveltySection)
    return PayLimits(
        to_units("novelty.day_limit", section.day_limit, params.base_units),
        to_units("novelty.contributor_day_limit", section.contributor_day_limit, params.base_units),
    )


def to_units(name: str, tokens: Decimal | None, base_units: int) -> int | None:
    """
    >>> to_units("--per-day", Decimal("0.3"), 1_000_000_000)
    300000000
    """
    if tokens is None:
        return None
    units = Fraction(tokens) * base_units
    if units.denominator != 1:
        told = f"{name} is {tokens} tokens of {base_units} units"
        raise WeighbeamError("bad_config", told, "give a whole number of units")
    return units.numerator
