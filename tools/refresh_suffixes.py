"""Take a newer public suffix list into the package: `python tools/refresh_suffixes.py [URL]`, or `make suffixes`.

What is fetched is refused unless it is a whole list under its licence and no older than the one that is there.
"""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from urllib.request import urlopen

from weighbeam.core.errors import WeighbeamError, require
from weighbeam.core.suffixes import LIST, Suffixes, parse_suffixes

SOURCE = "https://publicsuffix.org/list/public_suffix_list.dat"
MAX_BYTES = 4_000_000
LEAST_RULES = 5_000
SECONDS = 60
DATE = re.compile(r"\d{4}-\d{2}-\d{2}_\d{2}-\d{2}-\d{2}_UTC")


def check_list(text: str, present: Suffixes) -> Suffixes:
    """The list, if it may take the place of the present one."""
    found = parse_suffixes(text)
    remedy = f"fetch it from {SOURCE}"
    whole = len(found.every.plain) >= LEAST_RULES and len(found.icann.plain) < len(found.every.plain)
    require(whole and DATE.fullmatch(found.version) is not None, "bad_suffix_list", "the list is not whole", remedy)
    require("Mozilla Public" in text[:400], "bad_suffix_list", "the list does not name its licence", remedy)
    require(found.version >= present.version, "bad_suffix_list", f"the list of {found.version} is older", remedy)
    return found


def refresh(url: str, target: Path) -> tuple[Suffixes, Suffixes]:
    """The list before and the list now; the file is replaced as a whole or not at all."""
    with urlopen(url, timeout=SECONDS) as reply:
        content = reply.read(MAX_BYTES + 1)
    require(len(content) <= MAX_BYTES, "bad_suffix_list", f"the list has more than {MAX_BYTES:,} bytes")
    before = parse_suffixes(target.read_text("utf-8"))
    now = check_list(content.decode("utf-8"), before)
    draft = target.with_suffix(".draft")
    draft.write_bytes(content)
    draft.replace(target)
    return before, now


def main(arguments: Sequence[str]) -> None:
    try:
        before, now = refresh(arguments[0] if arguments else SOURCE, LIST)
    except (OSError, UnicodeDecodeError, WeighbeamError) as fault:
        sys.exit(f"the list stays as it is: {fault}")
    print(f"{before.version} → {now.version}, {len(now.every.plain):,} rules, sha256 {now.sha256}")


if __name__ == "__main__":
    main(sys.argv[1:])
