"""Any three-class NLI model by name through transformers (extra `weighbeam[torch]`), such as `roberta-large-mnli`."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.core.quantise import softmax_millionths
from weighbeam.core.text import has_lone_surrogate

LABELS = ("contradiction", "neutral", "entailment")
MAX_CHARACTERS = 16_384
MAX_PIECES = 512
NEUTRAL = [0, 1_000_000, 0]


class TransformersEntailment:
    """One pair at a time, since this library pads a batch and a padded row is rounded differently."""

    def __init__(self, model: str) -> None:
        try:
            import torch
            from transformers import AutoModelForSequenceClassification, AutoTokenizer
        except ImportError:
            raise WeighbeamError(
                "no_transformers", "transformers is not installed", "pip install 'weighbeam[torch]'"
            ) from None
        try:
            self._model: Any = AutoModelForSequenceClassification.from_pretrained(model).eval()
            self._tokenizer: Any = AutoTokenizer.from_pretrained(model)
        except (OSError, ValueError) as fault:
            raise WeighbeamError(
                "no_such_model", f"{model!r} does not load: {fault}", "give a model name or a folder on this machine"
            ) from None
        self._torch = torch
        self._order = find_label_order(self._model.config.id2label)
        self._pieces = min(MAX_PIECES, self._tokenizer.model_max_length)
        self.id = f"hf:{model}"
        self.digest = self._digest()

    def judge(self, pairs: Sequence[tuple[str, str]]) -> NDArray[np.int32]:
        """(n, 3) millionths: contradiction, neutral, entailment. A pair with a blank side is neutral."""
        rows = [self._judge(premise[:MAX_CHARACTERS], hypothesis[:MAX_CHARACTERS]) for premise, hypothesis in pairs]
        return np.array(rows, dtype=np.int32).reshape(len(pairs), 3)

    def _judge(self, premise: str, hypothesis: str) -> list[int]:
        if has_lone_surrogate(premise) or has_lone_surrogate(hypothesis):
            raise WeighbeamError("bad_text", "a text holds a lone surrogate", "give valid Unicode strings")
        if not premise.strip() or not hypothesis.strip():
            return NEUTRAL
        given = self._tokenizer(
            premise,
            hypothesis,
            truncation="longest_first",
            max_length=self._pieces,
            split_special_tokens=True,
            return_tensors="pt",
        )
        with self._torch.inference_mode():
            logits = self._model(**given).logits[0].double().tolist()
        if not np.isfinite(logits).all():
            raise WeighbeamError("entailment_fault", f"{self.id} gave a number that is not finite", "use another model")
        return softmax_millionths([logits[index] for index in self._order])

    def _digest(self) -> str:
        """A hash over every weight, so that two models of one name never pass for each other."""
        weights = hashlib.sha256()
        for name, tensor in sorted(self._model.state_dict().items()):
            plain = tensor.detach().cpu().contiguous().reshape(-1).view(self._torch.uint8)
            weights.update(name.encode() + plain.numpy().tobytes())
        return digest_json({"weights": weights.hexdigest(), "pieces": self._pieces, "order": self._order})


def find_label_order(names: Mapping[int, str]) -> list[int]:
    """The model's own numbers of contradiction, neutral and entailment.

    >>> find_label_order({0: "ENTAILMENT", 1: "Neutral", 2: "contradiction"})
    [2, 1, 0]
    """
    found = {str(name).strip().lower(): int(index) for index, name in names.items()}
    if sorted(found) != sorted(LABELS) or len(names) != len(LABELS):
        raise WeighbeamError(
            "not_entailment",
            f"the model's labels are {', '.join(sorted(found))}",
            "use a model with the labels contradiction, neutral and entailment",
        )
    return [found[label] for label in LABELS]
