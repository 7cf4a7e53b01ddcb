"""Prove a journal: compute every entry again, and check everything else that a decision reads or a user is shown.

Replay says that the numbers follow from the records. The rest says that the records are the ones a hotkey signed: the
head covers the end of the chain and the seals of all rows of evidence, and miners' signatures cover their answers.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from sqlalchemy import Connection, Table, func, select

from weighbeam.core.canonical import Json
from weighbeam.core.errors import WeighbeamError
from weighbeam.engine.journal.checkpoint import find_checkpoint_faults, list_signers
from weighbeam.engine.journal.fold import FindMechanism, Fold, RecordedEntry
from weighbeam.engine.journal.hash_chain import select_end, select_hash
from weighbeam.engine.journal.head import JOURNAL, JOURNAL_ROWS, Head, find_head_faults, list_heads, select_head
from weighbeam.engine.journal.recall import parse_answers
from weighbeam.engine.journal.replay import ReplayedEntry, replay_entries
from weighbeam.engine.proof.replies import find_reply_fault
from weighbeam.engine.proof.tables import (
    find_fold_faults,
    find_orphans,
    find_request_faults,
)
from weighbeam.engine.weights.emissions import name_fold
from weighbeam.mechanism.base import Mechanism
from weighbeam.mechanism.records import Answer
from weighbeam.mechanism.registry import load_mechanisms
from weighbeam.mechanism.untrusted import describe_exception
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.seals import SEALED_TABLES, WATCHED, add_up_seals, find_unsealed, find_unwatched, select_sums

PUBLISHED = re.compile(r"([0-9]{1,18}):([0-9a-fA-F]{64})", re.ASCII)
NOTHING: list[Json] = [0, None]
MAX_NAMED = 20
"""Faults that are listed of one check; the others are counted."""


@dataclass(frozen=True, slots=True)
class Pins:
    """Independent knowledge of a journal: its signer, and heads that were published or kept beside it."""

    hotkey: str | None = None
    heads: tuple[Head, ...] = ()
    entry: tuple[int, str] | None = None


def parse_entry(text: str) -> tuple[int, str] | None:
    """A published entry as SEQUENCE:HASH; None if the text is something else.

    >>> parse_entry("57:" + "ab" * 32) == (57, "ab" * 32), parse_entry("journal.head")
    (True, None)
    """
    found = PUBLISHED.fullmatch(text)
    return None if found is None else (int(found[1]), found[2].lower())


@dataclass(slots=True)
class ProofSummary:
    """Summary of a proof; complete once all its lines were read."""

    head: Head | None = None
    end: tuple[int, str] = (0, "")
    entries: int = 0
    rounds: int = 0
    weigh_ins: int = 0
    blocks: tuple[int, int] | None = None
    times: tuple[float, float] | None = None
    checkpoint: str | None = None
    replies: int = 0
    unsigned_replies: int = 0
    faults: list[ReplayedEntry] = field(default_factory=list)

    @property
    def signer(self) -> str | None:
        return self.head.hotkey if self.head is not None and self.head.is_signed else None

    def as_json(self) -> dict[str, Json]:
        sequence, digest = self.end
        return {
            "sound": not self.faults,
            "head": digest,
            "sequence": sequence,
            "signer": self.signer,
            "head_number": self.head.number if self.head else None,
            "signed_at": self.head.at if self.signer and self.head else None,
            "checkpoint": self.checkpoint,
            "entries": self.entries,
            "rounds": self.rounds,
            "weigh_ins": self.weigh_ins,
            "blocks": self.blocks,
            "times": self.times,
            "replies_verified": self.replies,
            "replies_unsigned": self.unsigned_replies,
            "faults": [{"sequence": one.sequence, "ref": one.ref, "fault": one.fault} for one in self.faults],
        }


class Proof:
    """One pass over a journal. Take all of `lines`, then read `summary`."""

    def __init__(self, store: Store, find: FindMechanism, pins: Pins | None = None) -> None:
        self.summary = ProofSummary()
        self._store, self._find, self._pins = store, find, pins or Pins()
        self._fold = Fold()
        self._averaging: dict[str, set[str]] = {}

    def lines(self) -> Iterator[ReplayedEntry]:
        """Every entry computed again, then every other check; those with a fault are in the summary too."""
        for line in self._lines():
            if line.fault is not None:
                self.summary.faults.append(line)
            yield line

    def _lines(self) -> Iterator[ReplayedEntry]:
        with self._store.read() as connection:
            summary = self.summary
            summary.head, summary.end = select_head(connection), select_end(connection)
            signers = list_signers(connection)
            summary.checkpoint = signers[-1] if signers else None
            yield from replay_entries(connection, self._find, self._check_entry, self._fold)
            for name, check in self._list_checks(signers).items():
                yield from self._run(connection, name, check)

    def _list_checks(self, signers: list[str]) -> "dict[str, Check]":
        checks: dict[str, Check] = {
            "head": lambda connection: self._check_head(connection, signers),
            "checkpoints": find_checkpoint_faults,
            "heads": self._check_heads,
            "seals": self._check_seals,
            **{table.name: partial(_find_unsealed, table) for table in SEALED_TABLES},
            "folds": lambda connection: self._check_folds(connection, complete=not signers),
            "orphans": lambda connection: find_orphans(connection, list(self._fold.reached)),
            "requests": lambda connection: find_request_faults(connection, self._find),
        }
        checks |= {name: partial(_find_unwatched, name) for name in WATCHED}
        for name, mechanism in load_mechanisms().items():
            checks[f"audit of {name}"] = partial(_audit, mechanism, self._store.file)
        return checks

    def _run(self, connection: Connection, name: str, check: "Check") -> Iterator[ReplayedEntry]:
        """A line for each fault; a check that cannot be made has failed."""
        last, faults = self.summary.end[0], 0
        try:
            found = iter(check(connection))
            for fault in islice(found, MAX_NAMED):
                faults += 1
                yield ReplayedEntry(last, name, fault)
            if more := sum(1 for _ in found):
                yield ReplayedEntry(last, name, f"and {more} more")
        except WeighbeamError as broken:
            yield ReplayedEntry(last, name, f"{broken.code}: {broken.message}")
        except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as raised:
            yield ReplayedEntry(last, name, f"cannot be checked: {describe_exception(raised)}")
        else:
            if not faults:
                yield ReplayedEntry(last, name, None)

    def _check_entry(self, entry: RecordedEntry) -> str | None:
        """Count an entry, and verify the signatures of a round's answers."""
        summary = self.summary
        summary.entries += 1
        summary.times = (
            (min(summary.times[0], entry.at), max(summary.times[1], entry.at))
            if summary.times
            else (entry.at, entry.at)
        )
        if entry.kind != "round":
            summary.weigh_ins += 1
            self._averaging.setdefault(entry.name, set()).add(name_fold(entry.weighing.averaging))
            return None
        summary.rounds += 1
        block = int(entry.body["block"])
        first, last = summary.blocks or (block, block)
        summary.blocks = (min(first, block), max(last, block))
        if entry.mechanism.kind == "collected":
            return None
        return self._check_replies(entry, parse_answers(entry.load(entry.body["answers"])))

    def _check_replies(self, entry: RecordedEntry, answers: Iterable[Answer]) -> str | None:
        """A miner signs to whom it answers: without a signed head nobody knows who asked."""
        asker = self.summary.signer
        for answer in answers:
            if answer.proof is None:
                self.summary.unsigned_replies += answer.status == "ok"
                continue
            if asker is None:
                continue
            if (fault := find_reply_fault(answer, entry.ref, asker)) is not None:
                return f"the reply of {answer.hotkey}: {fault}"
            self.summary.replies += 1
        return None

    def _check_head(self, connection: Connection, signers: list[str]) -> Iterator[str]:
        head, pins = self.summary.head, self._pins
        if head is None:
            if self.summary.end[0] or connection.scalar(select(func.count()).select_from(tables.seals)):
                yield "the journal has no head: it was removed, or written without the hotkey"
        elif not head.is_signed and select_hash(connection, head.sequence) not in (head.hash, None):
            yield f"entry {head.sequence} differs from the one before heads were signed"
        witnesses: list[Head | None] = [*pins.heads] or [None]
        yield from dict.fromkeys(fault for one in witnesses for fault in find_head_faults(connection, head, one))
        yield from self._check_signers(signers)
        if pins.entry is not None:
            yield from self._check_pinned(connection, *pins.entry)

    def _check_signers(self, checkpoints: list[str]) -> Iterator[str]:
        """Whether head, checkpoints and heads kept elsewhere are of one hotkey, the one expected."""
        signer, pins = self.summary.signer, self._pins
        others = [("a checkpoint", one) for one in dict.fromkeys(checkpoints)]
        others += [("the head kept elsewhere", one.hotkey) for one in pins.heads]
        for what, one in others:
            if signer is not None and one != signer:
                yield f"{what} is signed by {one}, the journal by {signer}"
        if pins.hotkey is not None and signer != pins.hotkey:
            yield f"the journal is signed by {signer or 'nobody'}, expected {pins.hotkey}"

    def _check_pinned(self, connection: Connection, sequence: int, digest: str) -> Iterator[str]:
        found = select_hash(connection, sequence)
        if found is None:
            yield f"the journal does not hold entry {sequence}, which was published as {digest[:16]}"
        elif found != digest:
            yield f"entry {sequence} is {found[:16]}, it was published as {digest[:16]}"

    def _check_heads(self, connection: Connection) -> Iterator[str]:
        """Heads of mechanisms' own chains, and seals that no head covers."""
        heads = list_heads(connection)
        for head in heads:
            fault = head.find_fault() if head.is_signed or head.name != JOURNAL else None
            if fault is not None:
                yield f"head {head.name!r} is forged: {fault}"
        covered = {*JOURNAL_ROWS, *(name for head in heads for name in head.sums)}
        for name in connection.scalars(select(tables.seals.c.name).distinct()):
            if name not in covered:
                yield f"seals of {name} are not signed"

    def _check_seals(self, connection: Connection) -> Iterator[str]:
        head = self.summary.head
        if head is None or not head.is_signed:
            return
        kept, found = select_sums(connection, JOURNAL_ROWS), add_up_seals(connection, JOURNAL_ROWS)
        for name in sorted({*kept, *found, *head.sums}):
            signed, there = head.sums.get(name, NOTHING), found.get(name, NOTHING)
            if signed != there:
                yield f"the seals of {name} differ from those that were signed ({there[0]} rows, {signed[0]} signed)"
            elif signed != kept.get(name, NOTHING):
                yield f"the sum stored for {name} differs from the signed one"

    def _check_folds(self, connection: Connection, complete: bool) -> Iterator[str]:
        for name in dict.fromkeys(
            [*self._fold.reached, *connection.scalars(select(tables.folds.c.mechanism).distinct())]
        ):
            settings = self._averaging.get(name, set())
            yield from find_fold_faults(connection, name, self._fold.reached.get(name), settings, complete)


Check = Callable[[Connection], Iterable[str]]


def _find_unwatched(name: str, connection: Connection) -> Iterator[str]:
    return find_unwatched(connection, name)


def _audit(mechanism: Mechanism, file: Path | None, connection: Connection) -> Iterable[str]:
    return mechanism.audit(connection, file)


def _find_unsealed(table: Table, connection: Connection) -> Iterator[str]:
    return find_unsealed(connection, table)


def prove(store: Store, find: FindMechanism, pins: Pins | None = None) -> ProofSummary:
    """The whole proof at once."""
    proof = Proof(store, find, pins)
    for _ in proof.lines():
        pass
    return proof.summary
