"""The tone of a text by VADER's lexicon and rules; the one module that knows its package."""

from functools import cached_property
from importlib.metadata import version
from importlib.resources import files
from typing import Any

from weighbeam.core.canonical import digest_json, digest_text

PACKAGE = "vaderSentiment"
PARTS = ("vaderSentiment.py", "vader_lexicon.txt", "emoji_utf8_lexicon.txt")
MAX_CHARACTERS = 2000
MAX_EMOJI = 50


class VaderSentiment:
    """VADER's compound: offline and deterministic.

    Its time grows with the square of the words, and each emoji counts as several, so that both are limited.
    """

    id = "vader"

    @cached_property
    def digest(self) -> str:
        parts = {name: digest_text((files(PACKAGE) / name).read_text("utf-8")) for name in PARTS}
        return digest_json({"version": version(PACKAGE), "parts": parts, "limits": [MAX_CHARACTERS, MAX_EMOJI]})

    def feel(self, text: str) -> float:
        """
        >>> [VaderSentiment().feel(text) for text in ("A wonderful result!", "A terrible loss.", "")]
        [0.6114, -0.6597, 0.0]
        """
        return float(self._analyser.polarity_scores(self._limit(text))["compound"])

    def _limit(self, text: str) -> str:
        kept, emoji = [], 0
        for character in text[:MAX_CHARACTERS]:
            emoji += character in self._analyser.emojis
            if emoji <= MAX_EMOJI or character not in self._analyser.emojis:
                kept.append(character)
        return "".join(kept)

    @cached_property
    def _analyser(self) -> Any:
        from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

        return SentimentIntensityAnalyzer()
