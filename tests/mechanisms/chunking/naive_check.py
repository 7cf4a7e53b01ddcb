"""Section 3 of the chunking specification, word by word and as slow as it reads: the oracle for `check`."""

import unicodedata

UNSPACED = "0E00-0EFF 1000-109F 1780-17FF 3005-30FF 31F0-31FF 3400-4DBF 4E00-9FFF F900-FAFF 20000-3FFFF"
RANGES = [tuple(int(end, 16) for end in part.split("-")) for part in UNSPACED.split()]
BLANKS = "0009-000D 001C-0020 0085-0085 00A0-00A0 1680-1680 2000-200A 2028-2029 202F-202F 205F-205F 3000-3000"
WHITE = {chr(p) for part in BLANKS.split() for p in range(*(int(e, 16) + k for k, e in enumerate(part.split("-"))))}


def words(text: str) -> list[tuple[str, int, int]]:
    """(form, start, end) of each word."""
    kinds = [unicodedata.category(c)[0] for c in text]
    found, i = [], 0
    while i < len(text):
        if text[i] in WHITE:
            i += 1
            continue
        j = i + 1
        if _unspaced(text[i], kinds[i]) or not _joins(text[i], kinds[i]):
            while j < len(text) and kinds[j] == "M":
                j += 1
        else:
            while j < len(text) and _joins(text[j], kinds[j]) and not _unspaced(text[j], kinds[j]):
                j += 1
        found.append((unicodedata.normalize("NFC", text[i:j]), i, j))
        i = j
    return found


def _unspaced(c: str, kind: str) -> bool:
    return kind == "L" and any(low <= ord(c) <= high for low, high in RANGES)


def _joins(c: str, kind: str) -> bool:
    return kind in "LMN" or c == "_"


def runs(part: list[str], whole: list[str], start: int = 0) -> int | None:
    """Leftmost start of `part` as consecutive words of `whole`, at or after `start`."""
    for i in range(start, len(whole) - len(part) + 1):
        if whole[i : i + len(part)] == part:
            return i
    return None


def check(document: str, chunks: list[str], chunk_size: int, strict: bool, width: int = 3) -> tuple:
    """(failure, chunk, word, at, text) or (None, tiled, word starts of chunks)."""
    doc = words(document)
    forms = [w[0] for w in doc]
    if sum(len(c) + 1 for c in chunks) > 4 * (len(document) + 256):
        return ("too_large", None, None, None, None)
    pieces = [words(c) for c in chunks]
    answer = [w[0] for piece in pieces for w in piece]
    tiled = answer == forms
    placed, last = [], 0
    for index, piece in enumerate(pieces):
        own = [w[0] for w in piece]
        if not own:
            placed.append(None)
            continue
        if tiled:
            placed.append(last)
            last += len(own)
            continue
        start = runs(own, forms, last)
        if start is None and runs(own, forms) is None:
            size = next(k for k in range(len(own)) if runs(own[: k + 1], forms) is None)
            return ("new_words", index, size, piece[size][1], own[size])
        if start is None:
            return ("out_of_order", index, 0, piece[0][1], own[0])
        placed.append(start)
        last = start
    for first in range(0, len(forms), width):
        window = forms[first : first + width]
        text = " ".join(window)
        if len(text) < chunk_size and runs(window, answer) is None:
            return ("missing_words", None, first, doc[first][1], text)
    if strict and not tiled:
        k = next((k for k, (a, b) in enumerate(zip(answer, forms, strict=False)) if a != b), None)
        k = min(len(answer), len(forms)) if k is None else k
        stops = [sum(len(p) for p in pieces[: i + 1]) for i in range(len(pieces))]
        chunk = next((i for i, stop in enumerate(stops) if k < stop), None)
        at, text = (doc[k][1], forms[k]) if k < len(forms) else (len(document), None)
        return ("not_tiling", chunk, k, at, text)
    return (None, tiled, placed)
