"""Any sentence-transformers model by name (extra `weighbeam[torch]`)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import unit_millionths


class SentenceTransformerEmbedder:
    """One text at a time, since this library pads a batch and a padded row is rounded differently."""

    def __init__(self, model: str) -> None:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise WeighbeamError(
                "no_sentence_transformers",
                "sentence-transformers is not installed",
                "pip install 'weighbeam[torch]'",
            ) from None
        try:
            self._model: Any = SentenceTransformer(model, device="cpu")
        except (OSError, ValueError) as fault:
            raise WeighbeamError(
                "no_such_model", f"{model!r} does not load: {fault}", "give a model name or a folder on this machine"
            ) from None
        self.id = f"st:{model}"
        self.dimensions = int(self._model.get_sentence_embedding_dimension())
        self.digest = _digest_model(self._model, torch)

    def embed(self, texts: Sequence[str]) -> NDArray[np.int32]:
        if not texts:
            return np.empty((0, self.dimensions), dtype=np.int32)
        rows = self._model.encode(list(texts), batch_size=1, convert_to_numpy=True, show_progress_bar=False)
        if not np.isfinite(rows).all():
            raise WeighbeamError("embedder_fault", f"{self.id} gave a vector that is not finite", "use another model")
        return unit_millionths(rows.astype(np.float64))


def _digest_model(model: Any, torch: Any) -> str:
    """A hash over every weight, so that two models of one name never pass for each other."""
    import hashlib

    weights = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        weights.update(name.encode() + tensor.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    return digest_json({"weights": weights.hexdigest(), "pieces": model.max_seq_length})
