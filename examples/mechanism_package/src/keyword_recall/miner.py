"""A miner of this mechanism: what it is asked comes in, what it answers goes out."""

from typing import Any


async def answer(task: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Honest and dull: a sentence with every keyword in it."""
    return {"text": f"This is about {' and '.join(task['keywords'])}."}
