"""`rules`: a sentence splitter that needs no data (docs/spec/chunking.md § 4).

A sentence ends after `. ! ? …` and closing quotes or brackets when white space and something other than a lower-case
letter follow, but not after an initial or a known abbreviation; after `。！？` and closers; and at a blank line.
A full stop inside a number has no white space after it and so never ends one.
"""

import re

CLOSERS = "\"'”’»›)\\]}」』）】》〉"
BOUNDARY = re.compile(
    rf"[。！？]++[{CLOSERS}]*+"
    rf"|(?<![.!?…])(?P<stop>[.!?…]++)[{CLOSERS}]*+(?=\s++(?P<next>\S))"
    r"|\n[^\S\n]*+\n\s*+"
)
WORD_BEFORE = re.compile(r"[^\W\d_](?:[^\W\d_]|\.(?=[^\W\d_]))*\Z")
INITIAL = re.compile(r"(?:\A|[\s.(\[{\"'“‘«-])[^\W\d_a-z]\Z")
LONGEST_ABBREVIATION = 12

ABBREVIATIONS = frozenset(
    """
    adm al approx apr art assn assoc asst aug ave bldg blvd brig bros ca capt cf ch col comdr co corp cpl dec
    dept dist div doc dr ed eds e.g eq eqs esp esq est etc ex exec ext feb fig figs fl fr fri ft gen gov govt hon
    hr hrs i.e inc incl ing inst int jan jr jul jun kg km lat lb lbs lit long ltd maj mar max med messrs mfg mgr
    min misc mm mme mon mr mrs ms msgr mt mts mus nat neg no nos nov nr oct op orig oz p pg ph.d pl pop pp prep
    pres prev prof pseud pt pub pvt qty rd ref reg rep res resp rev rm rpt rt sat sci sec sen sep sept ser sgt
    sp spec sq sr st sta ste subst sun supt surg tab tech tel temp thu thur thurs tr treas tue tues u.k u.s univ
    v viz vol vols vs wed yd yr yrs
    """.split()
)


class RuleSentences:
    """The built-in splitter."""

    id = "rules"
    digest = "rules-1"

    def split(self, text: str) -> list[str]:
        """Sentences of a text, white space at their ends removed, empty ones dropped.

        >>> RuleSentences().split('Dr. No left at 5.30 p.m. sharp. "Why?" asked J. Doe. 好。走')
        ['Dr. No left at 5.30 p.m. sharp.', '"Why?" asked J. Doe.', '好。', '走']
        """
        sentences: list[str] = []
        start = 0
        for match in BOUNDARY.finditer(text):
            if match["stop"] is not None and not _ends(text, match):
                continue
            sentences.append(text[start : match.end()].strip())
            start = match.end()
        sentences.append(text[start:].strip())
        return [sentence for sentence in sentences if sentence]


def _ends(text: str, match: re.Match[str]) -> bool:
    if match["next"].islower():
        return False
    if match["stop"] != ".":
        return True
    at = match.start("stop")
    before = WORD_BEFORE.search(text[max(0, at - LONGEST_ABBREVIATION) : at])
    if before is None:
        return True
    word = before[0]
    initial = INITIAL.search(text[max(0, at - 2) : at]) is not None
    return not initial and word.lower() not in ABBREVIATIONS
