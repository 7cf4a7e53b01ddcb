"""Open the desk that the settings describe, and serve it."""

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from weighbeam.app.service.apps import ServiceHost
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.mechanisms.novelty.desk.ledger import PayLimits
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.handlers import SIGNER, NoveltyApi
from weighbeam.mechanisms.novelty.service.routes import add_novelty
from weighbeam.mechanisms.novelty.service.settings import NoveltySection
from weighbeam.network.policy import SenderPolicy


def serve_desk(name: str, host: ServiceHost) -> Sequence[SenderPolicy]:
    """Add the API of the desk; gives the policy that says whose signatures it takes."""
    loaded, params = host.access.loaded, host.params
    assert isinstance(params, NoveltyParams)
    section = loaded.section(NoveltySection)
    limits = make_limits(loaded, params)
    desk = open_desk(host.store, host.senses, host.hotkey, params, limits, section.scan, host.now)
    authenticator = host.access.make_signed_authenticator(name, section, SIGNER)
    assert authenticator.signers is not None
    add_novelty(host.app, authenticator, NoveltyApi(desk, host.now), host.access.pools, host.registry)
    LOG.info("%s: corpus of %d pieces loaded", name, desk.load())
    return [authenticator.signers.policy]


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
