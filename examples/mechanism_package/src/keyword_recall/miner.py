"""Two miners of this mechanism: what is asked comes in, what is answered goes out."""

from typing import Any


async def answer(task: dict[str, Any], seconds: float) -> dict[str, Any]:
    return {"text": f"This is about {' and '.join(task['keywords'])}."}


async def answer_lazily(task: dict[str, Any], seconds: float) -> dict[str, Any]:
    return {"text": f"This is about {task['keywords'][0]}."}
