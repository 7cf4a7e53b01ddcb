"""Notify people of alerts through any service that apprise supports (`alerts.urls`)."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from urllib.parse import urlsplit

from weighbeam.app.redaction import Redactor, make_redactor
from weighbeam.app.settings.secrets import list_parts, list_secrets, names_machine
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import Level, format_notice
from weighbeam.engine.alerts.notices import HOUR, NoticePolicy
from weighbeam.engine.outbox.deliver import Delivery
from weighbeam.engine.outbox.queue import OutboxItem
from weighbeam.engine.support.process import run_in_daemon_thread

SEND_SECONDS = 30.0
MAX_SAID = 300
REMEDY = "check alerts.urls: weighbeam journal alerts test; it is tried again by itself"


@dataclass(frozen=True, slots=True)
class AlertReceiver:
    """`name` is its lane in the outbox, `shown` its address without secrets."""

    name: str
    shown: str
    url: str = field(repr=False)

    def send(self, title: str, text: str, kind: str, seconds: float = SEND_SECONDS) -> None:
        """Send a notice, or raise `notice_failed`. It blocks, so an event loop calls it in a thread."""
        given = json.dumps({"url": self.url, "title": title, "text": text, "kind": kind})
        command = [sys.executable, "-P", "-m", "weighbeam.app.notices.sender"]
        try:
            done = subprocess.run(command, input=given, capture_output=True, text=True, timeout=seconds, check=False)
            told = json.loads(done.stdout)
        except subprocess.TimeoutExpired:
            raise self._fail(f"the service did not accept it within {seconds:g} s") from None
        except (OSError, ValueError) as fault:
            raise self._fail(f"the sender failed: {type(fault).__name__}") from None
        if not told["ok"]:
            raise self._fail(make_redactor([self.url, *list_parts(self.url)]).hide(told["said"])[:MAX_SAID])

    def _fail(self, why: str) -> WeighbeamError:
        return WeighbeamError("notice_failed", f"{self.shown}: {why}", REMEDY)


def parse_receivers(loaded: LoadedSettings) -> tuple[AlertReceiver, ...]:
    """Parse the configured receivers; an unreadable address is `bad_config`, named by its place in the list."""
    urls = [secret.get_secret_value() for secret in loaded.settings.alerts.urls]
    found = {}
    for place, url in enumerate(urls, 1):
        if not is_readable(url):
            told = f"alerts.urls: address {place} of {len(urls)} ({hide_address(url)}) is not one that apprise can read"
            raise WeighbeamError("bad_config", told, "see https://appriseit.com for the address format of each service")
        scheme = url.partition("://")[0].lower()[:16]
        name = f"notice:{scheme}-{hashlib.sha256(url.encode()).hexdigest()[:4]}"
        found[name] = AlertReceiver(name, hide_address(url), url)
    return tuple(found.values())


def is_readable(url: str) -> bool:
    import logging

    try:
        from apprise import Apprise
    except ImportError:
        raise WeighbeamError("no_apprise", "alerts.urls needs apprise", "pip install 'weighbeam[alerts]'") from None

    logging.getLogger("apprise").addHandler(logging.NullHandler())
    return "://" in url and Apprise.instantiate(url) is not None


def hide_address(url: str) -> str:
    """The service, and the host if it is one.

    >>> hide_address("mailto://me:pw@mail.example:25?to=you"), hide_address("pbul://o.secret/x"), hide_address("x")
    ('mailto://mail.example:25/…', 'pbul://…', '…')
    """
    scheme, divider, _ = url.partition("://")
    if not divider or not scheme.isalnum():
        return "…"
    try:
        host = urlsplit(url).netloc.rpartition("@")[2]
    except ValueError:
        host = ""
    return f"{scheme}://{host}/…" if names_machine(scheme, host) and host.isascii() else f"{scheme}://…"


def make_notice_rules(loaded: LoadedSettings, receivers: tuple[AlertReceiver, ...], now: float) -> NoticePolicy:
    section = loaded.settings.alerts
    names = tuple(receiver.name for receiver in receivers)
    return NoticePolicy(names, section.level, section.repeat_hours * HOUR, section.quiet_hours * HOUR, now)


def make_notifiers(loaded: LoadedSettings, receivers: tuple[AlertReceiver, ...], hotkey: str) -> dict[str, Delivery]:
    """One lane of the outbox per receiver, so that a slow one delays no other."""
    redactor = make_redactor(list_secrets(loaded))
    return {one.name: partial(_deliver, one, redactor, hotkey, name_places(loaded)) for one in receivers}


def name_places(loaded: LoadedSettings) -> Mapping[str, str]:
    """By mechanism, where its weights are set."""
    chain = loaded.settings.chain
    where = "the local chain" if chain.kind == "local" else f"subnet {chain.netuid}"
    return {"": where} | {
        name: f"{name} (mechanism {section.mechid} of {where})" for name, section in loaded.settings.mechanisms.items()
    }


async def _deliver(
    receiver: AlertReceiver, redactor: Redactor, hotkey: str, places: Mapping[str, str], item: OutboxItem
) -> None:
    """No secret leaves the machine, whatever an alert quotes."""
    place = places.get(item.mechanism, item.mechanism)
    body = {**item.body, "text": redactor.hide(str(item.body["text"]))}
    title, text = format_notice(body, f"validator {hotkey}, {place}")
    kind = "over" if item.body["what"] == "over" else str(item.body["level"])
    await run_in_daemon_thread(receiver.send, f"Weighbeam: {title}", text, kind)


def send_test(receiver: AlertReceiver, hotkey: str, level: Level = "info") -> WeighbeamError | None:
    """Send a test notice; None on success."""
    try:
        receiver.send("Weighbeam: a test", f"This is a test: alerts of validator {hotkey} arrive here.", level)
    except WeighbeamError as fault:
        return fault
    return None
