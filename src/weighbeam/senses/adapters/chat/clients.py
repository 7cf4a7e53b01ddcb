"""Assessor and narrator behind an OpenAI-compatible chat endpoint."""

import os

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters.chat.endpoint import ChatEndpoint, ChatFault, check_endpoint
from weighbeam.senses.ports.protocols import NarrationRequest

ASSESSOR_KEY_VARIABLE = "WEIGHBEAM_ASSESSOR_KEY"
ASSESSOR_SECONDS = 30.0
MAX_ASSESSOR_TOKENS = 600
ASSESSOR_REMEDY = "check the assessor's address, model name and key"
ASSESSOR_CODES = {"timeout": "assessor_timeout", "filtered": "assessor_filtered", "other": "assessor_fault"}


class OpenAIAssessor:
    """Assesses through `model` at `url`; the key comes from the environment. Who calls it decides on a second try."""

    def __init__(self, model: str, url: str, key: str | None = None, seconds: float = ASSESSOR_SECONDS) -> None:
        secret = key or os.environ.get(ASSESSOR_KEY_VARIABLE)
        check_endpoint(url, secret, "bad_assessor", ASSESSOR_KEY_VARIABLE)
        self._endpoint = ChatEndpoint(model, url, secret, seconds, 0, MAX_ASSESSOR_TOKENS)
        self.id = self._endpoint.id
        self.digest = digest_json({"model": model, "url": url, "most_tokens": MAX_ASSESSOR_TOKENS})

    def assess(self, request: NarrationRequest) -> str:
        try:
            return self._endpoint.ask(request)
        except ChatFault as fault:
            raise WeighbeamError(ASSESSOR_CODES[fault.kind], f"{self.id}: {fault}", ASSESSOR_REMEDY) from None


NARRATOR_KEY_VARIABLE = "WEIGHBEAM_NARRATOR_KEY"
NARRATOR_SECONDS = 60.0
NARRATOR_RETRIES = 3
MAX_NARRATOR_TOKENS = 1200
NARRATOR_REMEDY = "check the narrator's address, model name and key"


class OpenAINarrator:
    """Tells through `model` at `url`; the key comes from the environment."""

    def __init__(self, model: str, url: str, key: str | None = None, seconds: float = NARRATOR_SECONDS) -> None:
        secret = key or os.environ.get(NARRATOR_KEY_VARIABLE)
        check_endpoint(url, secret, "bad_narrator", NARRATOR_KEY_VARIABLE)
        self._endpoint = ChatEndpoint(model, url, secret, seconds, NARRATOR_RETRIES, MAX_NARRATOR_TOKENS)
        self.id = self._endpoint.id

    def tell(self, request: NarrationRequest) -> str:
        try:
            return self._endpoint.ask(request)
        except ChatFault as fault:
            raise WeighbeamError("narrator_fault", f"{self.id}: {fault}", NARRATOR_REMEDY) from None
