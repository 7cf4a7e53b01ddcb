"""The parser process: loads all it needs, gives up files, sockets and excess time and memory, then parses one page
after another from standard input.
"""

import json
import math
import os
import resource
import sys
from dataclasses import asdict

from weighbeam.senses.adapters.frames import receive_frame, send_frame
from weighbeam.senses.adapters.pages.limits import ParserLimits
from weighbeam.senses.adapters.pages.outcome import ReadEnded
from weighbeam.senses.adapters.pages.parsing.charset import load_codecs
from weighbeam.senses.adapters.pages.parsing.parse import parse_page

STANDARD_FILES = 3
FORBIDDEN = (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)


def drop_rights(limits: ParserLimits) -> None:
    """Give up what parsing does not need, for good."""
    load_codecs()
    parse_page("<p title=a>é</p>".encode(), "text/html; charset=utf-8")
    resource.setrlimit(resource.RLIMIT_AS, (limits.memory_bytes, limits.memory_bytes))
    resource.setrlimit(resource.RLIMIT_NOFILE, (STANDARD_FILES, STANDARD_FILES))
    for one in FORBIDDEN:
        resource.setrlimit(one, (0, 0))


def allow_seconds(seconds: int) -> None:
    """From now on, so many seconds of processor time."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    allowed = math.ceil(used.ru_utime + used.ru_stime) + seconds
    resource.setrlimit(resource.RLIMIT_CPU, (allowed, resource.RLIM_INFINITY))


def answer(request: bytes, limits: ParserLimits) -> bytes:
    """One page, or the word that says why not."""
    head, _, body = request.partition(b"\n")
    about = json.loads(head)
    try:
        reply = asdict(parse_page(body, about["content_type"], about["robots"], limits))
    except ReadEnded as end:
        reply = {"ended": end.outcome, "why": end.why}
    return json.dumps(reply, ensure_ascii=False).encode()


def main() -> None:
    limits = ParserLimits(**json.loads(sys.argv[1]))
    os.nice(5)
    drop_rights(limits)
    while True:
        try:
            request = receive_frame(sys.stdin.buffer)
        except EOFError:
            return
        allow_seconds(limits.cpu_seconds)
        send_frame(sys.stdout.buffer, answer(request, limits))


if __name__ == "__main__":
    main()
