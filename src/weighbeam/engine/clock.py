"""Time as the engine sees it: a chain's own, which may run faster than the wall's."""

from typing import Protocol


class Clock(Protocol):
    """`now` is UTC seconds for records and windows; `sleep` passes that many of its seconds."""

    def now(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...
