"""An assessor of evidence behind any OpenAI-compatible chat endpoint."""

import os

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.ask_chat import ChatEndpoint, ChatFault, check_endpoint
from weighbeam.senses.ports import Telling

KEY_VARIABLE = "WEIGHBEAM_ASSESSOR_KEY"
SECONDS = 30.0
MOST_TOKENS = 600
REMEDY = "check the assessor's address, model name and key"
CODES = {"timeout": "assessor_timeout", "filtered": "assessor_filtered", "other": "assessor_fault"}


class OpenAIAssessor:
    """Assesses through `model` at `url`; the key comes from the environment. Who calls it decides on a second try."""

    def __init__(self, model: str, url: str, key: str | None = None, seconds: float = SECONDS) -> None:
        secret = key or os.environ.get(KEY_VARIABLE)
        check_endpoint(url, secret, "bad_assessor", KEY_VARIABLE)
        self._endpoint = ChatEndpoint(model, url, secret, seconds, 0, MOST_TOKENS)
        self.id = self._endpoint.id
        self.digest = digest_json({"model": model, "url": url, "most_tokens": MOST_TOKENS})

    def assess(self, request: Telling) -> str:
        try:
            return self._endpoint.ask(request)
        except ChatFault as fault:
            raise WeighbeamError(CODES[fault.kind], f"{self.id}: {fault}", REMEDY) from None
