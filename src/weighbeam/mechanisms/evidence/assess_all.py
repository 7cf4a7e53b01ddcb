"""Second opinions on all snippets of a round, side by side, within one deadline: a model that hangs voids nothing."""

from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from weighbeam.mechanisms.evidence.assess import UNASSESSED, Assessment, assess_snippet
from weighbeam.mechanisms.evidence.assess_request import PROMPT_DIGEST, Claim
from weighbeam.mechanisms.evidence.hurry import Stopwatch
from weighbeam.senses.ports import Assessor, Clock

AT_ONCE = 8
ALL_SECONDS = 45.0


class Opinions:
    """Opinions that were asked for, one per claim and tag; other work goes on meanwhile."""

    def __init__(self, assessor: Assessor, claims: Sequence[tuple[Claim, str]], clock: Clock) -> None:
        self._assessor, self._clock, self._asked = assessor, clock, Stopwatch(clock)
        self._threads = ThreadPoolExecutor(AT_ONCE, "assess")
        self._opinions = [self._threads.submit(self._assess, claim, tag) for claim, tag in claims]

    def collect(self, seconds: float = ALL_SECONDS) -> list[tuple[Assessment, float]]:
        """In the order of the claims, each with the seconds it took; who has none by the deadline is unassessed."""
        left = min(seconds, max(0.0, ALL_SECONDS - self._asked.seconds))
        done = wait(self._opinions, left).done
        self._threads.shutdown(wait=False, cancel_futures=True)
        return [self._take(one, one in done) for one in self._opinions]

    def _assess(self, claim: Claim, tag: str) -> tuple[Assessment, float]:
        watch = Stopwatch(self._clock)
        return assess_snippet(self._assessor, claim, tag), watch.seconds

    def _take(self, opinion: "Future[tuple[Assessment, float]]", done: bool) -> tuple[Assessment, float]:
        late = Assessment(UNASSESSED, self._assessor.id, PROMPT_DIGEST, fault="assessor_timeout")
        return opinion.result() if done else (late, self._asked.seconds)
