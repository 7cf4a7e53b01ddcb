"""Lines of cleaned text, built piece by piece, with positions that survive cleaning."""

import re

from weighbeam.core.text import normalise_text
from weighbeam.senses.adapters.pages.outcome import PageTooLarge

SPACES = re.compile(r"\s+")
LINE_ENDS = re.compile(r"\r\n?|\n")


class LineMark:
    """A position, known once its line is finished."""

    __slots__ = ("at",)

    def __init__(self) -> None:
        self.at = 0


class TextLines:
    """Text in the making. Cleaning works line by line: nothing composes across a line feed."""

    def __init__(self, limit: int) -> None:
        self._most = limit
        self._lines: list[str] = []
        self._length = 0
        self._pieces: list[str] = []
        self._raw = 0
        self._marks: list[tuple[int, LineMark]] = []

    def add(self, text: str, keep_lines: bool = False) -> None:
        """Text of one node: white space is one space, unless its lines are to be kept."""
        if keep_lines:
            first, *others = LINE_ENDS.split(text)
            self._put(first)
            for line in others:
                self.break_line()
                self._put(line)
        else:
            self._put(text)

    def _put(self, text: str) -> None:
        text = SPACES.sub(" ", text)
        if not self._pieces or self._pieces[-1].endswith(" "):
            text = text.removeprefix(" ")
        if text:
            self._pieces.append(text)
            self._raw += len(text)

    def tail(self, characters: int) -> str:
        """The end of the line so far; less if the last piece is shorter, as where a letter is set apart."""
        return self._pieces[-1][-characters:] if self._pieces else ""

    def mark(self) -> LineMark:
        """Where the next piece will be."""
        mark = LineMark()
        self._marks.append((self._raw, mark))
        return mark

    def break_line(self) -> None:
        """End the line; an empty one leaves nothing."""
        if not self._pieces:
            return
        raw = "".join(self._pieces).rstrip()
        line = normalise_text(raw)
        begin = self._length
        self._place_marks(raw, begin, len(line))
        if line:
            self._lines.append(line)
            self._length += len(line) + 1
        if self._length > self._most + 1:
            raise PageTooLarge("text")
        self._pieces, self._raw, self._marks = [], 0, []

    def _place_marks(self, raw: str, begin: int, limit: int) -> None:
        """Positions in the cleaned line; a composition across a mark moves it by one at most."""
        before, place = 0, 0
        for at, mark in self._marks:
            place += len(normalise_text(raw[before:at]))
            before = at
            mark.at = begin + min(place, limit)

    def finish(self) -> str:
        """The whole text."""
        self.break_line()
        for _, mark in self._marks:
            mark.at = max(0, self._length - 1)
        return "\n".join(self._lines)
