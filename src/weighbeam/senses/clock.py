"""The time, for whoever observes."""

import time


class SystemClock:
    """The clocks of this machine."""

    def seconds(self) -> float:
        return time.monotonic()

    def utc(self) -> float:
        return time.time()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)
