"""`epistula/2`: body, id, time and addressee are signed, but neither method nor path (spec § 6).

Inbound it is held to what its senders promise and receivers seldom check: it must be for us, from now, and new.
"""

import hashlib
import re
from dataclasses import dataclass
from typing import ClassVar
from uuid import uuid4

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network.dialects.contract import IsNew, Outgoing, Signed
from weighbeam.network.keys import Hotkey, is_signed
from weighbeam.network.signed_text import write_epistula
from weighbeam.network.verify_request import NANOSECONDS, Caller, Request, check_form, collect_headers

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

    def sign(self, hotkey: Hotkey, request: Outgoing) -> Signed:
        require(hotkey.scheme == SCHEME, "bad_scheme", f"epistula/2 needs an {SCHEME} hotkey", "ask in btauth/1")
        uuid, timestamp = str(uuid4()), str(int(request.nonce) // MILLISECOND)
        payload = write_epistula(request.body, uuid, timestamp, request.receiver)
        headers = {
            "Epistula-Version": "2",
            "Epistula-Timestamp": timestamp,
            "Epistula-Uuid": uuid,
            "Epistula-Signed-By": hotkey.address,
            "Epistula-Signed-For": request.receiver,
            "Epistula-Request-Signature": "0x" + hotkey.sign(payload).hex(),
        }
        return Signed(headers, hashlib.sha256(payload).hexdigest())

    def verify(self, request: Request, own_address: str, now: int, is_new: IsNew) -> Caller:
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
        payload = write_epistula(request.body, uuid, timestamp, own_address)
        require(is_signed(payload, bytes.fromhex(signature[2:]), sender, SCHEME), "bad_signature")
        require(is_new(sender, uuid, signed_at), "replayed")
        return Caller(sender, uuid, SCHEME, payload)
