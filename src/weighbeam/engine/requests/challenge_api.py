"""Client of a challenge API: pull challenges, send back their results and the records of copies."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.alerts.alerts import LOG, Alerts, log_fault
from weighbeam.engine.outbox.queue import OutboxItem
from weighbeam.engine.requests.challenges import Challenge, accept_challenge, select_challenge_of_request
from weighbeam.engine.support.clock import EngineClock
from weighbeam.engine.support.process import run_in_daemon_thread, run_in_thread
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.params import Params
from weighbeam.network.http_call import HttpReply, call_http, redact_url
from weighbeam.network.strict_json import parse_strict
from weighbeam.store.database import Store

MAX_BYTES = 1 << 20
NOTHING_NEW = (204, 404)
PULLED = "pull"


@dataclass(slots=True)
class ChallengeApi:
    """The API's addresses as the operator set them, each of them optional."""

    store: Store
    clock: EngineClock
    alerts: Alerts
    hotkey: str
    pull_url: str | None = None
    callback_url: str | None = None
    copies_url: str | None = None
    token: str | None = None
    copies_token: str | None = None
    is_down: bool = False

    async def keep_pulling(self, mechanism: Mechanism, params: Params, seconds: float) -> None:
        """Look for a challenge on the interval, until cancelled."""
        while True:
            try:
                await self.pull(mechanism, params)
                self.is_down = False
                await asyncio.to_thread(self.alerts.end, {"challenge_source": "it answers again"}, mechanism.name)
            except Exception as fault:
                await self._tell(fault, mechanism.name)
            await self.clock.sleep(seconds)

    async def pull(self, mechanism: Mechanism, params: Params) -> Challenge | None:
        """The next challenge, now in the queue; None if there is none."""
        given = await run_in_daemon_thread(self._fetch_next)
        if given is None:
            return None
        now = self.clock.now()
        challenge, new = await run_in_thread(accept_challenge, self.store, mechanism, params, given, PULLED, now)
        LOG.info("%s: pulled challenge %s%s", mechanism.name, challenge.id, "" if new else ", already known")
        return challenge

    def _fetch_next(self) -> Any:
        url = f"{(self.pull_url or '').rstrip('/')}/challenges/next"
        called = self._call("GET", url, None, self.token)
        if called.status in NOTHING_NEW:
            return None
        if called.status != 200:
            raise _refused(url, called)
        return parse_strict(called.body)

    async def call_back(self, item: OutboxItem) -> None:
        """The delivery `callback`: a challenge's result."""
        if self.callback_url is None:
            return
        challenge = await asyncio.to_thread(select_challenge_of_request, self.store, item.ref)
        await self._send(self.callback_url, {"validator": self.hotkey, **challenge.as_json()}, self.token)

    async def push_copies(self, item: OutboxItem) -> None:
        """The delivery `copies`: who gave the same answer in a round."""
        if self.copies_url is None:
            return
        told = {"validator": self.hotkey, "mechanism": item.mechanism, "round": item.ref, "at": item.at}
        await self._send(self.copies_url, {**told, "copies": item.body["copies"]}, self.copies_token)

    async def _send(self, url: str, content: Mapping[str, Any], token: str | None) -> None:
        called = await run_in_daemon_thread(self._call, "POST", url, dict(content), token)
        if not 200 <= called.status < 300:
            raise _refused(url, called)

    def _call(self, method: str, url: str, content: Any, token: str | None) -> HttpReply:
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        return call_http(method, url, content, headers, limit=MAX_BYTES)

    async def _tell(self, fault: Exception, mechanism: str) -> None:
        """An alert when it begins to fail, then a quiet line each time."""
        if self.is_down:
            LOG.debug("%s: no challenge could be pulled: %s", mechanism, fault)
            return
        self.is_down = True
        if isinstance(fault, WeighbeamError):
            text = f"{fault.code}: {fault.message}"
            await asyncio.to_thread(self.alerts.tell, "challenge_source", "warning", text, mechanism)
        else:
            log_fault(fault, mechanism)


def _refused(url: str, called: HttpReply) -> WeighbeamError:
    told = f"{redact_url(url)} answered {called.status}"
    return WeighbeamError("call_failed", told, "check the address and the token")
