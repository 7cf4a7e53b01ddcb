"""Second opinions on all snippets of a round, side by side, within one deadline: a model that hangs voids nothing."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait

from weighbeam.mechanisms.evidence.assess import UNASSESSED, Assessment, assess_snippet
from weighbeam.mechanisms.evidence.assess_request import PROMPT_DIGEST, Claim
from weighbeam.senses.ports import Assessor

AT_ONCE = 8
ALL_SECONDS = 45.0


def assess_all(
    assessor: Assessor, claims: Sequence[tuple[Claim, str]], seconds: float = ALL_SECONDS
) -> list[Assessment]:
    """One opinion per claim and tag, in their order; who has none by the deadline is unassessed."""
    if not claims:
        return []
    threads = ThreadPoolExecutor(min(AT_ONCE, len(claims)), "assess")
    asked = [threads.submit(assess_snippet, assessor, claim, tag) for claim, tag in claims]
    done = wait(asked, seconds).done
    threads.shutdown(wait=False, cancel_futures=True)
    late = Assessment(UNASSESSED, assessor.id, PROMPT_DIGEST, fault="assessor_timeout")
    return [one.result() if one in done else late for one in asked]
