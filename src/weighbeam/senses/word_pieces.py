"""Texts as the word pieces of the default embedder, without markers and without an end."""

from collections.abc import Sequence

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.senses import minilm_files as files
from weighbeam.senses.nli_pieces import open_pair_tokenizer


class MiniLMPieces:
    """`window` is how many pieces the default embedder reads of a text."""

    id = "minilm-pieces"
    window = 254

    def __init__(self) -> None:
        found = files.find_minilm()
        files.verify(found.tokenizer, files.TOKENIZER_SHA256)
        self.digest = digest_json({"tokenizer": files.TOKENIZER_SHA256, "window": self.window})
        self._tokenizer = open_pair_tokenizer(found.tokenizer)
        self.unknown = int(self._tokenizer.token_to_id("[UNK]"))

    def cut(self, texts: Sequence[str]) -> list[list[int]]:
        try:
            encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        except (TypeError, UnicodeError) as fault:
            raise WeighbeamError("bad_text", f"a text cannot be read: {fault}", "give valid Unicode strings") from None
        return [list(encoding.ids) for encoding in encodings]
