"""Who calls: a token shown as a bearer, or a hotkey that signs as miners are asked (docs/spec/network.md)."""

import hashlib
import hmac
import sqlite3
import time
from collections.abc import Mapping
from dataclasses import dataclass

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.network import verify_request as auth
from weighbeam.network.dialects.btauth import Btauth
from weighbeam.network.nonces import NonceStore
from weighbeam.network.policy import Policy

BEARER = "bearer "
TOKEN = "token:"


@dataclass(frozen=True, slots=True)
class Gate:
    """Who may use an API: tokens by the SHA-256 of each, and hotkeys the policy lets in.

    With `signers`, hotkeys have that policy and tokens the other.
    """

    own_address: str
    tokens: Mapping[str, str]
    policy: Policy
    nonces: NonceStore
    signers: Policy | None = None

    def prove(self, given: auth.Request) -> str:
        """Who calls; may wait for the disk if the request shows no token."""
        named = find_authorization(given)
        if not named:
            return Btauth().verify(given, self.own_address, time.time_ns(), self._is_new).sender
        if len(named) == 1 and named[0].lower().startswith(BEARER):
            shown = hashlib.sha256(named[0][len(BEARER) :].strip().encode("latin-1")).hexdigest()
            for digest, name in self.tokens.items():
                if hmac.compare_digest(digest, shown):
                    return f"{TOKEN}{name}"
        raise WeighbeamError("bad_token", "this token is not known here", "ask the operator for one")

    def find_policy(self, caller: str) -> Policy:
        return self.policy if self.signers is None or caller.startswith(TOKEN) else self.signers

    def _is_new(self, sender: str, request_id: str, signed_at: int) -> bool:
        """Nothing is written down for whoever may not call anyway."""
        allowed = self.find_policy(sender).may_ask(sender)
        require(allowed, "not_allowed", "this hotkey may not call", "ask the operator")
        try:
            return self.nonces.is_new(sender, request_id, signed_at)
        except sqlite3.Error:
            raise WeighbeamError("busy", "the nonces cannot be written", "call again later") from None


def find_authorization(given: auth.Request) -> list[str]:
    return [value for name, value in given.headers if name.lower() == "authorization"]
