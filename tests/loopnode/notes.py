"""What was inside a sealed row: noted as the SDK seals it, since nobody offline can open it before its time."""

from typing import Any

import bittensor_core

from loopnode.dispatch import Opened
from loopnode.node import LoopNode

_NOTED: dict[bytes, Opened] = {}
_seal = bittensor_core.get_encrypted_commit_v2


def _seal_and_note(*given: Any, **named: Any) -> tuple[bytes, int]:
    ciphertext, reveal_round = _seal(*given, **named)
    _NOTED[bytes(ciphertext)] = tuple(named["uids"]), tuple(named["weights"]), named["version_key"]
    return ciphertext, reveal_round


def note_commits(node: LoopNode) -> None:
    """From now on this node reveals, when it is time, what was sealed in this process."""
    bittensor_core.get_encrypted_commit_v2 = _seal_and_note
    node.opener = lambda ciphertext, _: _NOTED[ciphertext]
