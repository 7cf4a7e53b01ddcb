"""Can a text be taken as a contribution at all?"""

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.identity import find_control, write_embedded
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.mechanisms.novelty.plausible import count_words


def read_text(text: object, params: NoveltyParams) -> str:
    """The text as it is embedded; refused if it is none, too short, too long or not clean."""
    refusal = find_refusal(text, params)
    if refusal is not None:
        raise refusal
    return write_embedded(str(text))


def find_refusal(text: object, params: NoveltyParams) -> WeighbeamError | None:
    """Why a text cannot be taken, if it cannot."""
    if not isinstance(text, str):
        return WeighbeamError("bad_text", "a contribution is no text", "give a string")
    if len(text) > params.max_chars:
        return _too_long(len(text), params)
    control = find_control(text)
    if control is not None:
        told = f"it holds the character U+{ord(control):04X}"
        return WeighbeamError("bad_text", told, "send plain text without control characters")
    embedded = write_embedded(text)
    if len(embedded) > params.max_chars:
        return _too_long(len(embedded), params)
    words = count_words(embedded)
    if words < params.min_words:
        told = f"it has {words} words, {params.min_words} are needed"
        return WeighbeamError("too_short", told, "say more")
    return None


def _too_long(length: int, params: NoveltyParams) -> WeighbeamError:
    told = f"it has {length} characters, at most {params.max_chars} are taken"
    return WeighbeamError("too_long", told, "contribute it in parts")
