"""What a dialect does: sign a request that goes out, and prove who sent one that came in."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from weighbeam.network.keys import Hotkey
from weighbeam.network.verify_request import Caller, Request

IsNew: TypeAlias = Callable[[str, str, int], bool]
"""(sender, id of the request, when it was signed in nanoseconds) → whether it is seen for the first time."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request to sign; `nonce` is the asker's clock in nanoseconds."""

    method: str
    target: str
    body: bytes
    nonce: str
    receiver: str


@dataclass(frozen=True, slots=True)
class Signed:
    """Headers to send, and the digest of the signed text, to which a reply is bound."""

    headers: dict[str, str]
    digest: str


class Dialect(Protocol):
    """One way to sign requests. `signs_replies`: whether whoever is asked in it can prove its reply."""

    @property
    def name(self) -> str: ...

    @property
    def version_header(self) -> str: ...

    @property
    def signs_replies(self) -> bool: ...

    @property
    def max_age_seconds(self) -> float: ...

    @property
    def skew_seconds(self) -> float: ...

    def sign(self, hotkey: Hotkey, request: Outgoing) -> Signed: ...

    def verify(self, request: Request, own_address: str, now: int, is_new: IsNew) -> Caller:
        """The caller, or a refusal by code. `is_new` is asked only after the signature holds."""
        ...
