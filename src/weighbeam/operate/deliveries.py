"""What the outbox of a validator is delivered by, from its settings."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.deliver import Delivery
from weighbeam.engine.exchange import Exchange
from weighbeam.engine.keep_running import Desk
from weighbeam.engine.story import Storyteller
from weighbeam.engine.validator import Post
from weighbeam.operate.web import read_endpoint_name
from weighbeam.pictures.apart import draw_apart
from weighbeam.senses.ports import Narrator
from weighbeam.settings.load import Loaded
from weighbeam.store.artifacts import Artifacts, open_artifacts

WEB = ("http://", "https://")


def make_deliveries(loaded: Loaded, desk: Desk, posts: Sequence[Post], exchange: Exchange) -> dict[str, Delivery]:
    mechanisms = {post.name: post.bench.mechanism for post in posts}
    narrator = open_narrator(loaded.settings.validator.narrator)
    story = Storyteller(desk.store, desk.clock, mechanisms, open_place(loaded), draw_apart, narrator)
    return {
        "story": story.tell,
        "take_away": story.take_away,
        "callback": exchange.call_back,
        "copies": exchange.push_copies,
    }


def open_place(loaded: Loaded) -> Artifacts:
    """Where pictures go; a folder is relative to the settings, like every other path."""
    given = loaded.settings.store.artifacts
    return open_artifacts(given if "://" in given else str(loaded.path(Path(given))))


def open_narrator(given: str) -> Narrator | None:
    """None is the deterministic one."""
    if given == "deterministic":
        return None
    from weighbeam.senses.narrator_openai import OpenAINarrator

    return OpenAINarrator(*read_endpoint_name("narrator", given))


def open_exchange(loaded: Loaded, desk: Desk) -> Exchange:
    challenges, validator = loaded.settings.challenges, loaded.settings.validator
    check_url("challenges.pull", challenges.pull)
    check_url("challenges.callback", challenges.callback)
    check_url("validator.copies_url", validator.copies_url)
    return Exchange(
        store=desk.store,
        clock=desk.clock,
        alerts=desk.alerts,
        hotkey=desk.hotkey,
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
        raise WeighbeamError("bad_config", f"{name} is no plain web address", remedy)
