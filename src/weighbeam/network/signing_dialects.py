"""Dialects: ways to sign a request, one class each; `btauth/1` is ours (spec § 1 and § 6).

Inbound it is held to what its senders promise and receivers seldom check: it must be for us, from now, and new.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol, TypeAlias
from uuid import uuid4

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network.keys import Hotkey, is_signed
from weighbeam.network.request_auth import (
    NANOSECONDS,
    Headers,
    SignedRequest,
    VerifiedSender,
    check_form,
    collect_headers,
    verify_request,
)
from weighbeam.network.signatures import encode_epistula, sign_request

IsNew: TypeAlias = Callable[[str, str, int], bool]
"""(sender, id of the request, when it was signed in nanoseconds) → whether it is seen for the first time."""


@dataclass(frozen=True, slots=True)
class OutgoingRequest:
    """A request to sign; `nonce` is the asker's clock in nanoseconds."""

    method: str
    target: str
    body: bytes
    nonce: str
    receiver: str


@dataclass(frozen=True, slots=True)
class SignedHeaders:
    """Headers to send, and the digest of the signed text, to which a reply is bound."""

    headers: dict[str, str]
    digest: str


class Dialect(Protocol):
    """One way to sign requests. `signs_replies`: whether a miner asked in it signs its reply."""

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

    def sign(self, hotkey: Hotkey, request: OutgoingRequest) -> SignedHeaders: ...

    def verify(self, request: SignedRequest, own_address: str, now: int, is_new: IsNew) -> VerifiedSender:
        """The caller, or a refusal by code. `is_new` is asked only after the signature holds."""
        ...


@dataclass(frozen=True, slots=True)
class Btauth:
    """The default; its replies are signed."""

    name: ClassVar[str] = "btauth/1"
    version_header: ClassVar[str] = "x-bittensor-version"
    signs_replies: ClassVar[bool] = True
    max_age_seconds: float = 10.0
    skew_seconds: float = 2.0
    allowed_schemes: Collection[str] = ("sr25519",)

    def sign(self, hotkey: Hotkey, request: OutgoingRequest) -> SignedHeaders:
        return SignedHeaders(
            *sign_request(hotkey, request.method, request.target, request.body, request.nonce, request.receiver)
        )

    def verify(self, request: SignedRequest, own_address: str, now: int, is_new: IsNew) -> VerifiedSender:
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


VERSION, TIMESTAMP, UUID, SIGNED_BY, SIGNED_FOR, SIGNATURE = NAMES = tuple(
    f"epistula-{name}" for name in ("version", "timestamp", "uuid", "signed-by", "signed-for", "request-signature")
)
CANONICAL_UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)
MILLISECOND = 1_000_000
SCHEME = "sr25519"


@dataclass(frozen=True, slots=True)
class Epistula:
    """Spoken with miners of other software, whose replies are unsigned."""

    name: ClassVar[str] = "epistula/2"
    version_header: ClassVar[str] = VERSION
    signs_replies: ClassVar[bool] = False
    max_age_seconds: float = 8.0
    skew_seconds: float = 2.0

    def sign(self, hotkey: Hotkey, request: OutgoingRequest) -> SignedHeaders:
        require(hotkey.scheme == SCHEME, "bad_scheme", f"epistula/2 needs an {SCHEME} hotkey", "ask in btauth/1")
        uuid, timestamp = str(uuid4()), str(int(request.nonce) // MILLISECOND)
        payload = encode_epistula(request.body, uuid, timestamp, request.receiver)
        headers = {
            "Epistula-Version": "2",
            "Epistula-Timestamp": timestamp,
            "Epistula-Uuid": uuid,
            "Epistula-Signed-By": hotkey.address,
            "Epistula-Signed-For": request.receiver,
            "Epistula-Request-Signature": "0x" + hotkey.sign(payload).hex(),
        }
        return SignedHeaders(headers, hashlib.sha256(payload).hexdigest())

    def verify(self, request: SignedRequest, own_address: str, now: int, is_new: IsNew) -> VerifiedSender:
        fields = collect_headers(request.headers, NAMES, "malformed_auth")
        timestamp, uuid, sender, signature = (fields[name] for name in (TIMESTAMP, UUID, SIGNED_BY, SIGNATURE))
        require(fields[VERSION] == "2", "malformed_auth")
        if timestamp is None or uuid is None or sender is None or signature is None:
            raise WeighbeamError("malformed_auth")
        check_form(None, timestamp, signature, sender, "malformed_auth")
        require(CANONICAL_UUID4.fullmatch(uuid) is not None, "malformed_auth")
        require(fields[SIGNED_FOR] == own_address, "wrong_receiver")
        signed_at = int(timestamp) * MILLISECOND
        age = now - signed_at
        require(-self.skew_seconds * NANOSECONDS <= age <= self.max_age_seconds * NANOSECONDS, "stale")
        payload = encode_epistula(request.body, uuid, timestamp, own_address)
        require(is_signed(payload, bytes.fromhex(signature[2:]), sender, SCHEME), "bad_signature")
        require(is_new(sender, uuid, signed_at), "replayed")
        return VerifiedSender(sender, uuid, SCHEME, payload)


DEFAULT_DIALECT = Btauth.name
DIALECTS: Mapping[str, Dialect] = {Btauth.name: Btauth(), Epistula.name: Epistula()}


def find_dialect(name: str) -> Dialect:
    """The dialect called `name`.

    >>> find_dialect("epistula/2").version_header
    'epistula-version'
    """
    if name not in DIALECTS:
        raise WeighbeamError("unknown_dialect", f"no dialect is called {name!r}", f"use one of: {', '.join(DIALECTS)}")
    return DIALECTS[name]


def detect_dialect(accepted: Sequence[Dialect], headers: Headers) -> Dialect:
    """Of those accepted, the one whose version header is there; the first if none is, for it to say what is missing."""
    given = {name.lower() for name, _ in headers}
    spoken = [dialect for dialect in accepted if dialect.version_header in given]
    require(len(spoken) <= 1, "malformed_auth", "signed in two dialects", "sign in one")
    return spoken[0] if spoken else accepted[0]
