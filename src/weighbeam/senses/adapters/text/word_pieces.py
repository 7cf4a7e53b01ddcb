"""Word pieces of texts and of pairs of texts, as the default embedder cuts them.

Words are cut as the embedder cuts them. A marker written out in a text ("[SEP]") is plain text here, so no premise can
end itself and speak as the hypothesis.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses.adapters import model_files as files

CLS = 101
SEP = 102
MAX_CHARACTERS = 16_384


@dataclass(frozen=True, slots=True)
class PairPieces:
    """Piece numbers with their markers; the hypothesis begins at `split`."""

    ids: list[int]
    split: int

    @property
    def is_blank(self) -> bool:
        """Whether one side has no piece at all."""
        return self.split == 2 or self.split + 1 == len(self.ids)


def open_pair_tokenizer(path: Path) -> Any:
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    return tokenizer


def cut_pair(premise: Sequence[int], hypothesis: Sequence[int], limit: int) -> PairPieces:
    """Fit both into `limit` pieces with the markers: the premise gives way first, down to half of the room.

    >>> cut_pair([1, 2, 3, 4], [5, 6], 8)
    PairPieces(ids=[101, 1, 2, 3, 102, 5, 6, 102], split=5)
    """
    room = limit - 3
    kept = premise[: max(room - len(hypothesis), room // 2)]
    return PairPieces([CLS, *kept, SEP, *hypothesis[: room - len(kept)], SEP], len(kept) + 2)


def tokenise_pairs(tokenizer: Any, pairs: Sequence[tuple[str, str]], limit: int) -> list[PairPieces]:
    """The pieces of each pair, at most `limit`, of at most 16,384 characters on each side."""
    premises = _tokenise(tokenizer, (premise for premise, _ in pairs))
    hypotheses = _tokenise(tokenizer, (hypothesis for _, hypothesis in pairs))
    return [cut_pair(before, after, limit) for before, after in zip(premises, hypotheses, strict=True)]


def count_pieces(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """How many pieces each text has, without markers."""
    return [len(ids) for ids in _tokenise(tokenizer, texts)]


def _tokenise(tokenizer: Any, texts: Iterable[str]) -> list[list[int]]:
    distinct: dict[str, int] = {}
    try:
        rows = [distinct.setdefault(text[:MAX_CHARACTERS], len(distinct)) for text in texts]
        encodings = tokenizer.encode_batch(list(distinct), add_special_tokens=False)
    except (TypeError, UnicodeError) as fault:
        raise WeighbeamError("bad_text", f"a text cannot be judged: {fault}", "give valid Unicode strings") from None
    ids: list[list[int]] = [encoding.ids for encoding in encodings]
    return [ids[row] for row in rows]


class MiniLMPieces:
    """`window` is how many pieces the default embedder reads of a text."""

    id = "minilm-pieces"
    window = 254

    def __init__(self) -> None:
        found = files.find_minilm()
        files.verify_file(found.tokenizer, files.TOKENIZER_SHA256)
        self.digest = digest_json({"tokenizer": files.TOKENIZER_SHA256, "window": self.window})
        self._tokenizer = open_pair_tokenizer(found.tokenizer)
        self.unknown = int(self._tokenizer.token_to_id("[UNK]"))

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        try:
            encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        except (TypeError, UnicodeError) as fault:
            raise WeighbeamError("bad_text", f"a text cannot be read: {fault}", "give valid Unicode strings") from None
        return [list(encoding.ids) for encoding in encodings]
