"""Open the desk that the settings describe, and serve it."""

from collections.abc import Sequence

from weighbeam.app.service.apps import ServiceHost
from weighbeam.engine.alerts.alerts import LOG
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.service.budgets import make_limits
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
