"""The gates of a process, as its settings say: one set of tokens for all of them, and who may sign at which."""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.tokens import has_live
from weighbeam.network.keys import is_address
from weighbeam.network.listen import check_listen
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy, PolicySettings
from weighbeam.service.gate import Gate, Reading, Signers
from weighbeam.service.keyring import Keyring
from weighbeam.service.paces import Paces
from weighbeam.service.pool import Pools
from weighbeam.service.teller import SIGNER
from weighbeam.settings.load import Loaded
from weighbeam.store.database import Store

PER_SIGNER = 2
ASKER = frozenset({"ask", "read"})


@dataclass(frozen=True, slots=True)
class Entrance:
    """What all APIs of a process share: its tokens, their paces, its threads, and who may read without a token."""

    loaded: Loaded
    own_address: str
    keyring: Keyring
    paces: Paces
    pools: Pools
    reading: Reading

    def make_gate(self) -> Gate:
        """Of all that people and programs ask and read; tokens alone open it."""
        pace = self.loaded.settings.service.per_minute
        return Gate(self.own_address, self.keyring, self.paces, pace, reading=self.reading)

    def make_novelty_gate(self) -> Gate:
        """Tokens may use the whole pool, each hotkey a few places of it. Contributors' books are never open."""
        section = self.loaded.settings.novelty
        settings = PolicySettings(
            allow=read_callers("novelty", section.callers),
            require_permit=False,
            per_minute=section.per_minute,
            per_sender=PER_SIGNER,
            max_tasks=self.pools.desk.most,
        )
        signers = Signers(Policy(settings), NonceStore(self.loaded.path(section.nonces)), SIGNER)
        return Gate(self.own_address, self.keyring, self.paces, section.per_minute, signers)

    def make_challenge_gate(self) -> Gate:
        section = self.loaded.settings.challenges
        settings = PolicySettings(allow=read_callers("challenges", section.callers), per_minute=section.per_minute)
        signers = Signers(Policy(settings), NonceStore(self.loaded.path(section.nonces)), ASKER)
        return Gate(self.own_address, self.keyring, self.paces, section.per_minute, signers, self.reading)


def open_entrance(loaded: Loaded, store: Store, own_address: str, listen: str, pools: Pools) -> Entrance:
    """For what is served on `listen`."""
    reading: Reading = "local" if is_local(listen) else "closed"
    if loaded.settings.service.public:
        reading = "public"
    return Entrance(loaded, own_address, Keyring(store), Paces(), pools, reading)


def check_reached(loaded: Loaded, store: Store, now: float, validator: str | None = None) -> None:
    """Nothing is served to a network that nobody may use, or that all may use by an oversight.

    Where `weighbeam serve` listens, or else the validator.
    """
    section = loaded.settings.service
    setting, listen = ("service.listen", section.listen) if validator is None else ("validator.listen", validator)
    if not is_local(listen) and not section.public and not has_live(store, now):
        told = f"{setting} is {listen}, which others reach, and there is no token"
        raise WeighbeamError("bad_config", told, "weighbeam serve token new, or service.public = true to let all read")


def read_callers(section: str, callers: Iterable[str]) -> frozenset[str]:
    for caller in callers:
        if not is_address(caller):
            raise WeighbeamError("bad_config", f"{section}.callers: {caller!r} is no hotkey", "write ss58 addresses")
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
