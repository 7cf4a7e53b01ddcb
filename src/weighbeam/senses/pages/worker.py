"""The other side of `apart`: one page after the other from standard input, until it ends.

Everything it needs is loaded before its limits begin. From then on it can open no file and no socket, and the kernel
ends it when it takes too much time or memory.
"""

import json
import math
import os
import resource
import sys
from dataclasses import asdict

from weighbeam.senses.pages.charset import load_codecs
from weighbeam.senses.pages.ends import Ended
from weighbeam.senses.pages.frames import receive_frame, send_frame
from weighbeam.senses.pages.limits import ParserLimits
from weighbeam.senses.pages.parse import parse_page

STANDARD_FILES = 3
FORBIDDEN = (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)


def shut_in(limits: ParserLimits) -> None:
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
    except Ended as end:
        reply = {"ended": end.outcome, "why": end.why}
    return json.dumps(reply, ensure_ascii=False).encode()


def main() -> None:
    limits = ParserLimits(**json.loads(sys.argv[1]))
    os.nice(5)
    shut_in(limits)
    while True:
        try:
            request = receive_frame(sys.stdin.buffer)
        except EOFError:
            return
        allow_seconds(limits.cpu_seconds)
        send_frame(sys.stdout.buffer, answer(request, limits))


if __name__ == "__main__":
    main()
