"""Make the outbox deliveries of a validator from its settings."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from weighbeam.app.senses import open_narrator
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.charts.drawing import draw_in_process
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.outbox.deliver import Delivery
from weighbeam.engine.requests.challenge_api import ChallengeApi
from weighbeam.engine.rounds.narrative import NarrativeJobs
from weighbeam.engine.rounds.runner import MechanismRunner
from weighbeam.engine.running.runtime import ValidatorRuntime
from weighbeam.store.artifacts import Artifacts, open_artifacts

WEB = ("http://", "https://")


def make_deliveries(
    loaded: LoadedSettings, runtime: ValidatorRuntime, runners: Sequence[MechanismRunner], exchange: ChallengeApi
) -> dict[str, Delivery]:
    mechanisms = {runner.name: runner.round_context.mechanism for runner in runners}
    narrator = open_narrator(loaded.settings.validator.narrator)
    story = NarrativeJobs(runtime.store, runtime.clock, mechanisms, open_place(loaded), draw_in_process, narrator)
    return {
        "story": story.tell,
        "take_away": story.take_away,
        "callback": exchange.call_back,
        "copies": exchange.push_copies,
    }


def open_place(loaded: LoadedSettings) -> Artifacts:
    """Where pictures go; a folder is relative to the settings, like every other path."""
    given = loaded.settings.store.artifacts
    return open_artifacts(given if "://" in given else str(loaded.path(Path(given))))


def open_exchange(loaded: LoadedSettings, runtime: ValidatorRuntime) -> ChallengeApi:
    challenges, validator = loaded.settings.challenges, loaded.settings.validator
    check_url("challenges.pull", challenges.pull)
    check_url("challenges.callback", challenges.callback)
    check_url("validator.copies_url", validator.copies_url)
    return ChallengeApi(
        store=runtime.store,
        clock=runtime.clock,
        alerts=runtime.alerts,
        hotkey=runtime.hotkey,
        pull_url=challenges.pull,
        callback_url=challenges.callback,
        copies_url=validator.copies_url,
        token=challenges.token.get_secret_value() if challenges.token else None,
        copies_token=validator.copies_token.get_secret_value() if validator.copies_token else None,
    )


def check_url(name: str, url: str | None) -> None:
    """A plain web address; secrets belong into the token."""
    if url is None:
        return
    parts = urlsplit(url)
    if not url.startswith(WEB) or not parts.hostname or parts.username is not None or parts.password is not None:
        remedy = "write http:// or https:// and a host; a secret goes into the token"
        raise WeighbeamError("bad_config", f"{name} is not a plain web address", remedy)
