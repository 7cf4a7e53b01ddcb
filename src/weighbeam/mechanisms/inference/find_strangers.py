"""Names in a text that look like hotkeys of the round and are none: what a model made up.

A name counts as known in full, or by eight or more of its first characters. What is left is looked at for three shapes:
an address (beginning with 5, or very long), a shortened one (`5Grw…utQY`), and, where the round's hotkeys are
numbered (`miner-01`), the same stem with another number. Other invented words cannot be told from words.
"""

import re
from collections.abc import Collection, Sequence

LEAST_START = 8
BASE58 = "1-9A-HJ-NP-Za-km-z"
ADDRESS = re.compile(rf"(?<![A-Za-z0-9])(?:5[A-Za-z0-9]{{7,}}|[{BASE58}]{{40,}})(?![A-Za-z0-9])")
SHORTENED = re.compile(rf"(?<![A-Za-z0-9])(5[{BASE58}]{{1,47}})(?:…|\.{{2,}})([{BASE58}]{{0,47}})")
NUMBERED = re.compile(r"([A-Za-z][A-Za-z0-9_.-]*?)([0-9]+)")


def find_strangers(text: str, hotkeys: Collection[str]) -> list[str]:
    """Invented names, in the order they occur.

    >>> find_strangers("miner-01 beats miner-9 and 5Invented1.", ["miner-01", "miner-02"])
    ['5Invented1', 'miner-9']
    """
    left, shortened = _hide_known(text, hotkeys), _find_shortened(text, hotkeys)
    addresses = [name for name in ADDRESS.findall(left) if _looks_random(name) and not _starts_one(name, hotkeys)]
    return [*shortened, *addresses, *_find_numbered(left, hotkeys)]


def _hide_known(text: str, hotkeys: Collection[str]) -> str:
    starts = {hotkey[:LEAST_START] for hotkey in hotkeys if len(hotkey) > LEAST_START}
    names = sorted({*hotkeys, *starts}, key=lambda name: (-len(name), name))
    if not names:
        return text
    known = "|".join(re.escape(name) for name in names)
    return re.sub(rf"(?<![A-Za-z0-9])(?<![A-Za-z0-9][-_.])(?:{known})(?![A-Za-z0-9])", " ", text)


def _find_shortened(text: str, hotkeys: Collection[str]) -> list[str]:
    return [
        f"{start}…{end}"
        for start, end in SHORTENED.findall(text)
        if (_looks_random(start + end) or any(c.isupper() for c in start))
        and not any(key.startswith(start) and key.endswith(end) for key in hotkeys)
    ]


def _find_numbered(text: str, hotkeys: Collection[str]) -> list[str]:
    known = {hotkey.lower() for hotkey in hotkeys}
    stems = {match[1].lower() for hotkey in hotkeys if (match := NUMBERED.fullmatch(hotkey))}
    found: list[str] = []
    for stem in sorted(stems, key=lambda stem: (-len(stem), stem)):
        names: Sequence[str] = re.findall(rf"(?<![A-Za-z0-9]){re.escape(stem)}[0-9]+(?![A-Za-z0-9])", text, re.I)
        found += [name for name in names if name.lower() not in known and not _starts_one(name, hotkeys)]
    return found


def _starts_one(name: str, hotkeys: Collection[str]) -> bool:
    return len(name) >= LEAST_START and any(hotkey.startswith(name) for hotkey in hotkeys)


def _looks_random(name: str) -> bool:
    """In both cases, or with digits after letters, unlike a number with its unit.

    >>> [_looks_random(name) for name in ("5GrwvaEF", "5c8be1f2", "5centimetres", "52428811", "5000000km")]
    [True, True, False, False, False]
    """
    both = any(c.isupper() for c in name) and any(c.islower() for c in name)
    return both or re.search(r"[A-Za-z][0-9]", name) is not None
