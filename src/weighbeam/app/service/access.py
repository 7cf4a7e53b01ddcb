"""Tokens, rate limits and permitted signers that the APIs of one process share."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from weighbeam.app.settings.sections import SignedApiSection
from weighbeam.app.settings.sources import LoadedSettings
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.requests.tokens import has_live
from weighbeam.network.http_server import check_listen
from weighbeam.network.keys import is_address
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import PolicySettings, SenderPolicy
from weighbeam.service.http.authentication import AllowedSigners, Authenticator, ReadAccess, TokenKeyring
from weighbeam.service.http.rate_limit import RateLimits
from weighbeam.service.http.threads import ThreadPools
from weighbeam.store.database import Store

PER_SIGNER = 2
ASKER = frozenset({"ask", "read"})


@dataclass(frozen=True, slots=True)
class ApiAccess:
    """Shared by all APIs of a process: tokens, rate limits, threads, and who may read without a token."""

    loaded: LoadedSettings
    own_address: str
    keyring: TokenKeyring
    rate_limits: RateLimits
    pools: ThreadPools
    reading: ReadAccess

    def make_authenticator(self) -> Authenticator:
        """Authenticator for asking and reading; only tokens are accepted."""
        pace = self.loaded.settings.service.per_minute
        return Authenticator(self.own_address, self.keyring, self.rate_limits, pace, reading=self.reading)

    def make_signed_authenticator(self, name: str, section: SignedApiSection, scopes: frozenset[str]) -> Authenticator:
        """Tokens may use the whole pool, each hotkey a few places of it. Contributors' books are never open."""
        settings = PolicySettings(
            allow=parse_callers(name, section.callers),
            require_permit=False,
            per_minute=section.per_minute,
            per_sender=PER_SIGNER,
            max_tasks=self.pools.submissions.limit,
        )
        signers = AllowedSigners(SenderPolicy(settings), NonceStore(self.loaded.path(section.nonces)), scopes)
        return Authenticator(self.own_address, self.keyring, self.rate_limits, section.per_minute, signers)

    def make_challenge_authenticator(self) -> Authenticator:
        section = self.loaded.settings.challenges
        settings = PolicySettings(allow=parse_callers("challenges", section.callers), per_minute=section.per_minute)
        signers = AllowedSigners(SenderPolicy(settings), NonceStore(self.loaded.path(section.nonces)), ASKER)
        return Authenticator(
            self.own_address, self.keyring, self.rate_limits, section.per_minute, signers, self.reading
        )


def open_access(loaded: LoadedSettings, store: Store, own_address: str, listen: str, pools: ThreadPools) -> ApiAccess:
    """Open the access of everything served on `listen`."""
    reading: ReadAccess = "local" if is_local(listen) else "closed"
    if loaded.settings.service.public:
        reading = "public"
    return ApiAccess(loaded, own_address, TokenKeyring(store), RateLimits(), pools, reading)


def check_exposure(loaded: LoadedSettings, store: Store, now: float, validator: str | None = None) -> None:
    """Refuse to serve a network without any token, unless that is explicitly public.

    Where `weighbeam serve` listens, or else the validator.
    """
    section = loaded.settings.service
    setting, listen = ("service.listen", section.listen) if validator is None else ("validator.listen", validator)
    if not is_local(listen) and not section.public and not has_live(store, now):
        told = f"{setting} is {listen}, which other machines can reach, and there is no token"
        raise WeighbeamError("bad_config", told, "weighbeam serve token new, or service.public = true to let all read")


def parse_callers(section: str, callers: Iterable[str]) -> frozenset[str]:
    for caller in callers:
        if not is_address(caller):
            raise WeighbeamError(
                "bad_config", f"{section}.callers: {caller!r} is not a valid hotkey", "write ss58 addresses"
            )
    return frozenset(callers)


def is_local(listen: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_local("127.0.0.1:8080"), is_local("[::1]:0"), is_local("localhost:1"), is_local("0.0.0.0:80")
    (True, True, True, False)
    """
    host, _ = check_listen(listen)
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"
