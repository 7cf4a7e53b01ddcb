"""Any OpenAI-compatible embeddings endpoint (extra `weighbeam[openai]`)."""

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import unit_millionths

BATCH_TEXTS = 64
SECONDS = 30.0
RETRIES = 2
MAX_DIMENSIONS = 16_384


class OpenAIEmbedder:
    """Vectors from a server. What a name means there is the server's word: the digest covers model and address only."""

    def __init__(self, model: str, url: str, key: str | None = None) -> None:
        try:
            from openai import OpenAI
        except ImportError:
            raise WeighbeamError(
                "no_openai", "the openai client is not installed", "pip install 'weighbeam[openai]'"
            ) from None
        secret = key or os.environ.get("WEIGHBEAM_EMBEDDINGS_KEY") or "none"
        self._client: Any = OpenAI(base_url=url, api_key=secret, timeout=SECONDS, max_retries=RETRIES)
        self._model = model
        self.id = f"openai:{model}@{url}"
        self.digest = digest_json({"model": model, "url": url})
        self.dimensions = self._ask(["dimensions"]).shape[1]

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.int32)
        parts = [self._ask(texts[i : i + BATCH_TEXTS]) for i in range(0, len(texts), BATCH_TEXTS)]
        if any(part.shape[1] != self.dimensions for part in parts):
            raise self._fault(f"vectors are not all of {self.dimensions} dimensions")
        return unit_millionths(np.concatenate(parts))

    def _ask(self, texts: Sequence[str]) -> NDArray[np.float64]:
        from openai import OpenAIError

        try:
            reply = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
            rows = sorted(reply.data, key=lambda row: row.index)
            vectors = np.array([row.embedding for row in rows], dtype=np.float64)
        except OpenAIError as fault:
            raise self._fault(str(fault)) from None
        except (TypeError, ValueError, AttributeError) as fault:
            raise self._fault(f"the reply is not a list of vectors: {fault}") from None
        indices = [row.index for row in rows]
        if vectors.ndim != 2 or indices != list(range(len(texts))) or not 1 <= vectors.shape[1] <= MAX_DIMENSIONS:
            raise self._fault(f"asked for {len(texts)} vectors, got an array of shape {vectors.shape}")
        if not np.isfinite(vectors).all():
            raise self._fault("a vector is not finite")
        return vectors

    def _fault(self, what: str) -> WeighbeamError:
        return WeighbeamError("embedder_fault", f"{self.id}: {what}", "check the address, the model name and the key")
