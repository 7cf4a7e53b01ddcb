"""Authentication: a token, a hotkey's signature, or anyone (docs/spec/network.md).

Time is the wall's, for people give tokens their days.

A token is shown as a bearer. To look at pages, which a browser fetches, it may be the password of HTTP's Basic instead:
for GET and HEAD alone, so that no page of another site can have a browser change anything.
"""

import base64
import binascii
import hmac
import ipaddress
import re
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.engine.requests.tokens import Token, digest_secret, select_token, split_token
from weighbeam.network import request_auth as auth
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import SenderPolicy
from weighbeam.network.signing_dialects import Btauth
from weighbeam.service.http.callers import ANYONE, Caller, name_holder
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.store.database import Store

FRESH_SECONDS = 1.0
MAX_REMEMBERED = 1024
NO_DIGEST = "0" * 64
UNPROVEN_PER_MINUTE = 600.0
"""How often an address may show what opens nothing; a sixth of it at once."""


class TokenKeyring:
    """Tokens and their holders; a lookup may wait for the disk."""

    def __init__(self, store: Store, now: Callable[[], float] = time.time) -> None:
        self._store = store
        self._now = now
        self._lock = threading.Lock()
        self._seen: dict[str, tuple[float, Token]] = {}

    def find(self, shown: str) -> Caller:
        """Return the holder of a token; every invalid token raises the same `bad_token`."""
        parts = split_token(shown)
        caller = None if parts is None else self._open(self._look(parts[0]), parts[1])
        if caller is None:
            raise WeighbeamError("bad_token", "this token is not valid here", "ask the operator for one")
        return caller

    def recall(self, shown: str) -> Caller | None:
        """The same, from memory alone; None also if that does not say."""
        parts = split_token(shown)
        return None if parts is None else self._open(self._remember(parts[0]), parts[1])

    def is_familiar(self, shown: str) -> bool:
        """Whether the token was good when it was last looked up, however long ago."""
        parts = split_token(shown)
        if parts is None:
            return False
        with self._lock:
            _, token = self._seen.get(parts[0], (0.0, None))
        return self._open(token, parts[1]) is not None

    def _open(self, token: Token | None, secret: str) -> Caller | None:
        same = hmac.compare_digest(NO_DIGEST if token is None else token.digest, digest_secret(secret))
        return name_holder(token) if token is not None and same and token.is_live(self._now()) else None

    def _remember(self, token_id: str) -> Token | None:
        with self._lock:
            read_at, token = self._seen.get(token_id, (float("-inf"), None))
        return token if time.monotonic() - read_at < FRESH_SECONDS else None

    def _look(self, token_id: str) -> Token | None:
        token, since = self._remember(token_id), time.monotonic()
        if token is not None:
            return token
        found = select_token(self._store, token_id)
        with self._lock:
            self._seen.pop(token_id, None)
            if len(self._seen) >= MAX_REMEMBERED:
                self._seen.clear()
            if found is not None:
                self._seen[token_id] = (since, found)
        return found


SAFE = ("GET", "HEAD")
SIGNED = "x-bittensor-"
HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+))(?::[0-9]{0,5})?", re.ASCII)
ReadAccess = Literal["closed", "local", "public"]


@dataclass(frozen=True, slots=True)
class AllowedSigners:
    """Hotkeys the policy lets in, and what they may do."""

    policy: SenderPolicy
    nonces: NonceStore
    scopes: frozenset[str]


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Authenticate callers of an API. `per_minute` is the default rate.

    `reading` says who may read without a token: nobody, callers by a loopback name, or everyone.
    """

    own_address: str
    keyring: TokenKeyring
    rate_limits: RateLimits
    per_minute: float = 600.0
    signers: AllowedSigners | None = None
    reading: ReadAccess = "closed"

    def prove(self, given: auth.SignedRequest) -> Caller:
        """Authenticate the caller; may wait for the disk."""
        named = find_headers(given, "authorization")
        if named:
            return self.keyring.find(parse_authorization(named, given.method))
        if not is_signed(given) and self._is_open(given):
            return ANYONE
        if self.signers is None:
            raise WeighbeamError("bad_token", "no token was sent", "send one: Authorization: Bearer wb_…")
        sender = Btauth().verify(given, self.own_address, time.time_ns(), self._is_new).sender
        return Caller(sender, self.signers.scopes)

    def recall(self, given: auth.SignedRequest) -> Caller | None:
        """Return the caller if known without waiting."""
        named = find_headers(given, "authorization")
        if named:
            return self.keyring.recall(parse_authorization(named, given.method))
        return ANYONE if not is_signed(given) and self._is_open(given) else None

    @contextmanager
    def pace_unproven(self, given: auth.SignedRequest, origin: str) -> Iterator[None]:
        """Allow the lookup of a token, or refuse: each address has a limit on failed attempts.

        A token that was valid before is always looked up, so that callers behind one proxy
        cannot cut each other off.
        """
        named = find_headers(given, "authorization")
        if named and self.keyring.is_familiar(parse_authorization(named, given.method)):
            yield
            return
        name = f"unproven {origin}"
        self.rate_limits.spend(name, UNPROVEN_PER_MINUTE)
        in_vain = False
        try:
            yield
        except WeighbeamError as refusal:
            in_vain = refusal.code == "bad_token"
            raise
        finally:
            if not in_vain:
                self.rate_limits.give_back(name, UNPROVEN_PER_MINUTE)

    @contextmanager
    def admit(self, caller: Caller, origin: str = "") -> Iterator[None]:
        """Admit an authenticated caller or refuse it; callers without a token are counted by address."""
        if caller.hotkey is not None and self.signers is not None:
            with self.signers.policy.admit(caller.hotkey):
                yield
            return
        name = f"{caller.name} {origin}" if caller.is_anyone else caller.name
        self.rate_limits.spend(name, caller.per_minute or self.per_minute)
        yield

    def _is_open(self, given: auth.SignedRequest) -> bool:
        if given.method not in SAFE or self.reading == "closed":
            return False
        return self.reading == "public" or all(is_own_name(host) for host in find_headers(given, "host"))

    def _is_new(self, sender: str, request_id: str, signed_at: int) -> bool:
        """Check the nonce; callers without access leave no record."""
        assert self.signers is not None
        allowed = self.signers.policy.may_ask(sender)
        require(allowed, "not_allowed", "this hotkey may not call", "ask the operator")
        try:
            return self.signers.nonces.is_new(sender, request_id, signed_at)
        except sqlite3.Error:
            raise WeighbeamError("busy", "the file of nonces cannot be written", "call again later") from None


def find_headers(given: auth.SignedRequest, wanted: str) -> list[str]:
    return [value for name, value in given.headers if name.lower() == wanted]


def is_signed(given: auth.SignedRequest) -> bool:
    """Whether the request has a signature and no token."""
    named = {name.lower() for name, _ in given.headers}
    return "authorization" not in named and any(name.startswith(SIGNED) for name in named)


def parse_authorization(named: list[str], method: str) -> str:
    """Parse the single header Authorization; a malformed token yields "".

    >>> basic = ["Basic OndiX3g="]
    >>> calls = ((["Bearer wb_x"], "POST"), (basic, "GET"), (basic, "POST"))
    >>> tuple(parse_authorization(header, method) for header, method in calls)
    ('wb_x', 'wb_x', '')
    """
    kind, _, rest = named[0].strip().partition(" ") if len(named) == 1 else ("", "", "")
    if kind.lower() == "bearer":
        return rest.strip()
    if kind.lower() != "basic" or method not in SAFE:
        return ""
    try:
        return base64.b64decode(rest.strip(), validate=True).decode("latin-1").partition(":")[2]
    except (binascii.Error, ValueError):
        return ""


def is_own_name(host: str) -> bool:
    """Whether a Host header names this machine as only itself can, so that no foreign name was led here.

    >>> [is_own_name(host) for host in ("127.0.0.1:8080", "localhost", "[::1]:80", "evil.example:8080", "0.0.0.0", "")]
    [True, True, True, False, False, False]
    >>> [is_own_name(host) for host in ("[::1].evil.example", "127.0.0.1:80/v1/config?", "127.0.0.1:80@evil.example")]
    [False, False, False]
    """
    found = HOST.fullmatch(host)
    if found is None:
        return False
    name = found[1] or found[2]
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name.lower() == "localhost"
