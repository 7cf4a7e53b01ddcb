"""Importing: one line that cannot be taken costs no other, and what is only compared with is denied nothing."""

import io
import json

from mechanisms.novelty.desk.tiny_senses import TinySenses
from weighbeam.mechanisms.novelty.desk.accounts import count_all
from weighbeam.mechanisms.novelty.desk.bulk_import import import_lines
from weighbeam.mechanisms.novelty.desk.desk import open_desk
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.keys import Hotkey
from weighbeam.store.database import Store

NOISE = "xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq"
DENSE = "Three plain words " + " ".join("?!" * 13 for _ in range(735))


def test_a_line_that_is_refused_late_costs_no_other(store: Store) -> None:
    desk = open_desk(store, TinySenses(), Hotkey.from_uri("//Node", "ed25519"), NoveltyParams(gate="deny"))
    texts = ["A first line that anybody may read.", DENSE, NOISE, "A last line, after those two."]
    brought = import_lines(desk, io.BytesIO("\n".join(map(json.dumps, texts)).encode()), "archive", lambda _: None)
    assert (brought.imported, [(bad.line, bad.error) for bad in brought.bad]) == (3, [(2, "too_long")])
    assert count_all(store)["paid"] == 0
