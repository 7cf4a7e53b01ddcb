"""Wrap the prose of Markdown pages at 100 characters, so that a diff can be read.

python tools/docs/wrap.py [--check] PAGE...

Only a paragraph or an item with a line of more than 110 characters is wrapped again. Tables, code, headings, HTML and
pictures stay as they are, and no span of code is broken.
"""

import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

WIDTH, LIMIT = 100, 110
NO_BREAK = "\u00a0"
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
FENCE = re.compile(r"^\s*(```+|~~~+)")
KEPT = re.compile(r"^\s*(?:\||#{1,6} |<|!\[|>|\[[^\]]+\]: )")
CODE = re.compile(r"`+[^`]+`+")
TAKEN_FOR_ANOTHER = re.compile(r"^(?:[-*+>]|\d+[.)]|#{1,6})(?:\s|$)|^\|")
"""What a line of prose must not begin with: Markdown would take it for an item, a heading, a quote or a table."""


def wrap_page(text: str) -> str:
    lines, done, at, fence = text.split("\n"), [], 0, ""
    while at < len(lines):
        line = lines[at]
        opened = FENCE.match(line)
        if fence or opened:
            closes = bool(fence) and line.strip().startswith(fence)
            fence = "" if closes else fence or (opened[1] if opened else "")
            done.append(line)
            at += 1
            continue
        end = _find_end(lines, at)
        done += _wrap_block(lines[at:end])
        at = end
    return "\n".join(done)


def _find_end(lines: Sequence[str], at: int) -> int:
    """Where the paragraph or item that begins at a line ends; a line that is no prose is alone."""
    end = at + 1
    if not _is_prose(lines[at]):
        return end
    is_item = ITEM.match(lines[at])
    while end < len(lines) and lines[end].strip() and not ITEM.match(lines[end]) and not FENCE.match(lines[end]):
        if KEPT.match(lines[end]) or (not is_item and lines[end].startswith("    ")):
            break
        end += 1
    return end


def _is_prose(line: str) -> bool:
    is_code = line.startswith("    ") and not ITEM.match(line)
    return bool(line.strip()) and not is_code and not KEPT.match(line)


def _wrap_block(block: Sequence[str]) -> list[str]:
    breaks = any(line.endswith(("  ", "\\", "<br>")) for line in block[:-1])
    if not _is_prose(block[0]) or breaks or max(map(len, block)) <= LIMIT:
        return list(block)
    found = ITEM.match(block[0])
    first = found[0] if found else block[0][: len(block[0]) - len(block[0].lstrip())]
    rest = " " * len(first)
    prose = " ".join([block[0][len(first) :], *block[1:]]).split()
    whole = CODE.sub(lambda code: code[0].replace(" ", NO_BREAK), " ".join(prose))
    wrapped = textwrap.wrap(whole, WIDTH - len(first), break_long_words=False, break_on_hyphens=False)
    for number in range(1, len(wrapped)):
        while TAKEN_FOR_ANOTHER.match(wrapped[number]) and " " in wrapped[number - 1]:
            wrapped[number - 1], _, last = wrapped[number - 1].rpartition(" ")
            wrapped[number] = f"{last} {wrapped[number]}"
    shown = [line.replace(NO_BREAK, " ") for line in wrapped]
    return [first + shown[0], *(rest + line for line in shown[1:])]


def main(words: Sequence[str]) -> int:
    unwrapped = []
    for name in words:
        if name == "--check":
            continue
        path = Path(name)
        text = path.read_text("utf-8")
        wrapped = wrap_page(text)
        if wrapped != text:
            unwrapped.append(name)
            if "--check" not in words:
                path.write_text(wrapped, "utf-8")
    print(*unwrapped, sep="\n")
    return int("--check" in words and bool(unwrapped))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
