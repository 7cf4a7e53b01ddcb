"""Hotkeys: addresses, signatures and their checks. The only module that knows the key library."""

from typing import Literal

import bittensor_core as library

Scheme = Literal["sr25519", "ed25519"]
CRYPTO: dict[str, int] = {"sr25519": library.CRYPTO_SR25519, "ed25519": library.CRYPTO_ED25519}
PREFIX = 42


class Hotkey:
    """A key pair that signs; the secret never leaves it."""

    def __init__(self, pair: library.Keypair) -> None:
        self._pair = pair
        self.address: str = pair.ss58_address
        self.scheme: Scheme = "ed25519" if pair.crypto_type == library.CRYPTO_ED25519 else "sr25519"
        self.public_key = bytes(pair.public_key)
        self.crypto_type = int(pair.crypto_type)

    @classmethod
    def from_uri(cls, uri: str, scheme: Scheme = "sr25519") -> "Hotkey":
        """A key from a secret URI such as `//Alice`: for development, tests and the local chain."""
        return cls(library.Keypair.create_from_uri(uri, crypto_type=CRYPTO[scheme]))

    @classmethod
    def from_seed(cls, seed: bytes, scheme: Scheme = "ed25519") -> "Hotkey":
        """The key of 32 secret bytes."""
        return cls(library.Keypair.create_from_seed(seed, crypto_type=CRYPTO[scheme]))

    @classmethod
    def from_keyfile(cls, content: bytes, password: str | None = None) -> "Hotkey":
        """A key from a wallet's hotkey file; `ValueError` says what is wrong without showing any of it."""
        try:
            if library.keyfile_data_is_encrypted(content):
                if password is None:
                    raise ValueError("it is encrypted")
                content = library.decrypt_keyfile_data(content, password)
            found = cls(library.deserialize_keypair_from_keyfile_data(content))
            found.sign(b"")
        except library.WrongPasswordError:
            raise ValueError("the password is wrong") from None
        except library.KeyfileError:
            raise ValueError("it holds no secret key") from None
        return found

    def sign(self, message: bytes) -> bytes:
        return bytes(self._pair.sign(message))

    def __repr__(self) -> str:
        return f"Hotkey({self.address})"


def is_address(text: str) -> bool:
    """Whether `text` is the canonical ss58 form of a public key under prefix 42."""
    try:
        return bool(library.encode_ss58(library.decode_ss58(text), PREFIX) == text)
    except ValueError:
        return False


def is_signed(message: bytes, signature: bytes, address: str, scheme: str) -> bool:
    """Whether `address` signed `message` under exactly this scheme."""
    try:
        return bool(library.verify(message, signature, address, CRYPTO[scheme]))
    except ValueError:
        return False
