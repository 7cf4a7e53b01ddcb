"""A validator that is told to end does end: no wait takes a cancellation for a result that came at the same moment."""

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

import pytest

from weighbeam.engine.weights.discovery import Discovery
from weighbeam.network.address import look_up_host


async def cancel_when_done(work: Coroutine[Any, Any, Any], turns: int) -> bool:
    """Cancel `work` so many turns of the loop after its thread has finished; whether it took notice, or was done."""
    task = asyncio.create_task(work)
    await asyncio.sleep(0)
    time.sleep(0.05)
    for _ in range(turns):
        await asyncio.sleep(0)
    if not task.cancel():
        return True
    try:
        await task
    except asyncio.CancelledError:
        return True
    return False


@pytest.mark.parametrize("turns", range(6))
def test_a_look_for_endpoints_is_cancelled(turns: int) -> None:
    assert asyncio.run(cancel_when_done(Discovery(lambda _: {}).look(None), turns))


@pytest.mark.parametrize("turns", range(6))
def test_a_look_up_of_a_name_is_cancelled(turns: int) -> None:
    assert asyncio.run(cancel_when_done(look_up_host("localhost", 80, 5.0), turns))
