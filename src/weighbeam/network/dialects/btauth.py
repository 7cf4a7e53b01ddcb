"""`btauth/1`: method, target, body, time, sender and receiver are signed (spec § 1)."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from weighbeam.network.dialects.contract import IsNew, Outgoing, Signed
from weighbeam.network.keys import Hotkey
from weighbeam.network.sign_headers import sign_request
from weighbeam.network.verify_request import Caller, Request, verify_request


@dataclass(frozen=True, slots=True)
class Btauth:
    """The default; its replies are signed."""

    name: ClassVar[str] = "btauth/1"
    version_header: ClassVar[str] = "x-bittensor-version"
    signs_replies: ClassVar[bool] = True
    max_age_seconds: float = 10.0
    skew_seconds: float = 2.0
    allowed_schemes: Collection[str] = ("sr25519",)

    def sign(self, hotkey: Hotkey, request: Outgoing) -> Signed:
        return Signed(
            *sign_request(hotkey, request.method, request.target, request.body, request.nonce, request.receiver)
        )

    def verify(self, request: Request, own_address: str, now: int, is_new: IsNew) -> Caller:
        return verify_request(
            request,
            own_address,
            now,
            lambda sender, nonce: is_new(sender, nonce, int(nonce)),
            self.allowed_schemes,
            len(request.body),
            self.max_age_seconds,
            self.skew_seconds,
        )
