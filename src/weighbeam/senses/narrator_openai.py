"""A narrator behind any OpenAI-compatible chat endpoint."""

import os

from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.ask_chat import ChatEndpoint, ChatFault, check_endpoint
from weighbeam.senses.ports import Telling

KEY_VARIABLE = "WEIGHBEAM_NARRATOR_KEY"
SECONDS = 60.0
RETRIES = 3
MOST_TOKENS = 1200
REMEDY = "check the narrator's address, model name and key"


class OpenAINarrator:
    """Tells through `model` at `url`; the key comes from the environment."""

    def __init__(self, model: str, url: str, key: str | None = None, seconds: float = SECONDS) -> None:
        secret = key or os.environ.get(KEY_VARIABLE)
        check_endpoint(url, secret, "bad_narrator", KEY_VARIABLE)
        self._endpoint = ChatEndpoint(model, url, secret, seconds, RETRIES, MOST_TOKENS)
        self.id = self._endpoint.id

    def tell(self, request: Telling) -> str:
        try:
            return self._endpoint.ask(request)
        except ChatFault as fault:
            raise WeighbeamError("narrator_fault", f"{self.id}: {fault}", REMEDY) from None
