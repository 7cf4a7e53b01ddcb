"""Our hotkey as the SDK signs with it, once; whether it did says whether anything can have left this machine."""

from typing import Any

from weighbeam.chain.bittensor.faults import make_fault
from weighbeam.network.keys import Hotkey


class OnceSigner:
    """Signs one extrinsic, and none that could still be included in or after block `before`."""

    def __init__(self, hotkey: Hotkey, mortality: int, before: int | None) -> None:
        self._hotkey = hotkey
        self._mortality = mortality
        self._before = before
        self.signed = self.retired = False
        self.ss58_address = hotkey.address
        self.public_key = hotkey.public_key
        self.crypto_type = hotkey.crypto_type

    def sign(self, payload: bytes) -> bytes:
        if self.signed or self.retired:
            raise make_fault("timeout", "a signature was asked for too late, or twice")
        self.signed = True
        return self._hotkey.sign(payload)

    def retire(self) -> None:
        """Sign nothing more, whatever still runs."""
        self.retired = True

    def sign_unsigned_extrinsic(self, unsigned: Any) -> bytes:
        """The SDK shows the whole extrinsic; its era says until when it lives."""
        dies = int(unsigned.era["current"]) + self._mortality
        if self._before is not None and dies > self._before:
            raise make_fault("timeout", f"it could be included until block {dies - 1}: too late for this plan")
        return self.sign(unsigned.payload)

    def __repr__(self) -> str:
        return f"OnceSigner({self.ss58_address})"
