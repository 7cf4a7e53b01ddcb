"""The language model of `weighbeam demo --llm`: looked for before anything is started."""

import os

import httpx2

from weighbeam.app.senses import open_narrator, parse_endpoint_name
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.chat.clients import NARRATOR_KEY_VARIABLE
from weighbeam.senses.ports.protocols import Narrator

LOOK_SECONDS = 5.0
REMEDY = (
    "start an OpenAI-compatible server there and name it as openai:MODEL@http://HOST:PORT/v1, with its key in "
    f"OPENAI_API_KEY and {NARRATOR_KEY_VARIABLE}; make demo LLM=1 brings a small model"
)


def open_language_model(given: str) -> Narrator:
    """The narrator behind `openai:MODEL@URL`; `no_llm` unless something there lists its models."""
    _, url = parse_endpoint_name("language model", given)
    narrator = open_narrator(given)
    assert narrator is not None
    key = os.environ.get(NARRATOR_KEY_VARIABLE)
    headers = {"authorization": f"Bearer {key}"} if key else {}
    try:
        status = httpx2.get(f"{url.rstrip('/')}/models", headers=headers, timeout=LOOK_SECONDS).status_code
    except (httpx2.HTTPError, httpx2.InvalidURL) as fault:
        raise WeighbeamError("no_llm", f"no language model at {url}: {type(fault).__name__}", REMEDY) from None
    if status != 200:
        raise WeighbeamError("no_llm", f"no language model at {url}: it answered {status}", REMEDY)
    return narrator
