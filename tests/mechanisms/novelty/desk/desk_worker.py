"""A desk in a process of its own: `URL SCAN NAME COUNT DIES`. Says when it is ready, submits and tells each receipt.

While it signs receipt number `DIES` it shoots itself: the contribution is written by then, and nothing committed.
"""

import json
import os
import signal
import sys
from itertools import count as count_from

from mechanisms.novelty.desk.tiny_senses import TinySenses
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.network.keys import Hotkey
from weighbeam.network.receipts import SIGNED
from weighbeam.store.database import Store

NODE = Hotkey.from_uri("//Node", "ed25519")


def write_texts(name: str, count: int) -> list[str]:
    """What everybody says, what is near to what others say, what nobody else says, and something long."""
    made: list[str] = []
    for number in range(count):
        made.append(f"Line {number} of the song is sung by all of them at the same time.")
        made.append(f"near hill-{number % 3}: what {name} says of it for the {number}th time")
        made.append(f"A line of {name} alone, the {number}th that was written down.")
    return [*made, " ".join(f"Sentence {number} of {name} is one of many in a long letter." for number in range(40))]


def die_at(number: int) -> None:
    sign, made = Hotkey.sign, count_from(1)

    def shoot(hotkey: Hotkey, message: bytes) -> bytes:
        if message.startswith(SIGNED) and next(made) == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return sign(hotkey, message)

    Hotkey.sign = shoot


def work(url: str, scan: str, name: str, count: int) -> None:
    desk = open_desk(Store(url), TinySenses(), NODE, scan=scan)
    print("ready", flush=True)
    sys.stdin.readline()
    for text in write_texts(name, count):
        print(json.dumps(desk.submit(name, text)), flush=True)


if __name__ == "__main__":
    die_at(int(sys.argv[5]))
    work(*sys.argv[1:4], int(sys.argv[4]))
