"""What can be made to go wrong; each switch stays on until it is turned off."""

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass
class Faults:
    """`drop_calls` and `slow_calls` name methods; `drop_calls` counts down, so that a call may get through later."""

    silent: bool = False
    handshake_status: int | None = None
    slow_calls: dict[str, float] = field(default_factory=dict)
    drop_calls: dict[str, int] = field(default_factory=dict)
    drop_submission: Literal["included", "lost"] | None = None
    pool_error: dict[str, Any] | None = None
    call_errors: dict[str, dict[str, Any]] = field(default_factory=dict)
    watch_status: str | None = None
    silent_after_watch: bool = False
    dispatch_error: str | None = None
    head_back: int = 0
    spec_version: int | None = None
    without_consensus: bool = False
    close_code: int | None = None


CUSTOM_6 = {"code": 1010, "message": "Invalid Transaction", "data": "Custom error: 6"}
PRIORITY = {
    "code": 1014,
    "message": "Priority is too low: (0 vs 0)",
    "data": "The transaction has too low priority to replace another transaction already in the pool.",
}
TRAFFIC = {"code": -32005, "message": "request limit exceeded", "data": {"retry_after": "30", "policy": "burst"}}
