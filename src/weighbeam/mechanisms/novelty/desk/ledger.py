"""The money: append-only double entry in integer units, hash-chained, and accounts that are its sums.

Every entry moves units from one account to another, so all accounts together are always 0. The treasury is the only
one that may be below it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, func, insert, select, update

from weighbeam.core.canonical import digest_json
from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.tables import accounts, novelty_ledger
from weighbeam.store.seals import continue_chain

DESK = "novelty"
"""The name of the head that signs this ledger."""
TREASURY = "treasury"
GENESIS = "0" * 64
DAY = 86_400
MAX_PAID = 2**62
Kind = Literal["pay", "hold", "release", "reject"]


@dataclass(frozen=True, slots=True)
class PayLimits:
    """The most units that leave the treasury in a day, in all and to one contributor; None for no limit."""

    per_day: int | None = None
    per_contributor: int | None = None


def own_account(contributor: str) -> str:
    return f"contributor:{contributor}"


def held_account(contributor: str) -> str:
    return f"held:{contributor}"


@dataclass(slots=True)
class _Account:
    """Balance of an account, and its income from the treasury (or the treasury's payments) on its last day."""

    units: int = 0
    day: int = 0
    spent: int = 0
    kept: bool = False
    touched: bool = False

    def spent_on(self, today: int) -> int:
        """A day that is over counts no more; tomorrow does: a clock set back a little opens no budget twice."""
        return self.spent if self.day >= today else 0

    def spend(self, today: int, units: int) -> None:
        self.day, self.spent = max(self.day, today), self.spent_on(today) + units


class LedgerTransaction:
    """The ledger within one transaction; `close` writes the accounts it touched."""

    def __init__(self, connection: Connection, at: float) -> None:
        self._connection = connection
        self._at = float(at)
        self._today = int(at // DAY)
        self._accounts: dict[str, _Account] = {}
        self._sequence, self.head = select_ledger_end(connection)
        continue_chain(connection, DESK, (self._sequence, self.head))

    def check(self, contributor: str, units: int, limits: PayLimits) -> None:
        """Whether so many units may leave the treasury today, whole or not at all; `budget_spent` if not."""
        for name, limit in ((TREASURY, limits.per_day), (own_account(contributor), limits.per_contributor)):
            spent = self._find(name).spent_on(self._today)
            if limit is not None and spent + units > limit:
                whose = "the treasury's" if name == TREASURY else "this contributor's"
                told = f"{whose} limit for today is {limit} units, {spent} are spent"
                raise WeighbeamError("budget_spent", told, "submit again tomorrow")
        if units - self._find(TREASURY).units > MAX_PAID:
            raise WeighbeamError(
                "budget_spent", "the treasury's total exceeds the largest countable amount", "open another store"
            )

    def spend(self, kind: Literal["pay", "hold"], contribution: int, contributor: str, units: int) -> None:
        """Out of the treasury, after `check`."""
        own = self._find(own_account(contributor))
        own.touched = True
        if not units:
            return
        target = own_account(contributor) if kind == "pay" else held_account(contributor)
        self._move(kind, contribution, TREASURY, target, units)
        for account in (self._find(TREASURY), own):
            account.spend(self._today, units)

    def settle(self, kind: Literal["release", "reject"], contribution: int, contributor: str, units: int) -> None:
        """Pay held units to their contributor, or return them."""
        if units:
            target = own_account(contributor) if kind == "release" else TREASURY
            self._move(kind, contribution, held_account(contributor), target, units)

    def close(self) -> None:
        """Every account touched, as it is now; one that was never there is opened."""
        for name, account in ((name, one) for name, one in self._accounts.items() if one.touched):
            values = {"units": account.units, "day": account.day, "spent": account.spent}
            if account.kept:
                self._connection.execute(update(accounts).where(accounts.c.name == name).values(**values))
            else:
                self._connection.execute(insert(accounts).values(name=name, **values))

    def _move(self, kind: Kind, contribution: int, debit: str, credit: str, units: int) -> None:
        self._sequence += 1
        row = {
            "sequence": self._sequence,
            "at": self._at,
            "kind": kind,
            "contribution": contribution,
            "debit": debit,
            "credit": credit,
            "units": units,
            "previous": self.head,
        }
        self.head = digest_json(row)
        self._connection.execute(insert(novelty_ledger).values(**row, hash=self.head))
        for name, change in ((debit, -units), (credit, units)):
            account = self._find(name)
            account.units += change
            account.touched = True

    def _sum_today(self, name: str) -> int:
        """Sum today's payments from the entries, for a day recorded while the clock was ahead."""
        columns = novelty_ledger.c
        held = held_account(name.removeprefix(own_account("")))
        whose = columns.debit == TREASURY if name == TREASURY else columns.credit.in_([name, held])
        today = (columns.at >= self._today * DAY) & (columns.at < (self._today + 1) * DAY)
        query = select(func.sum(columns.units)).where(whose, today, columns.kind.in_(["pay", "hold"]))
        return int(self._connection.scalar(query) or 0)

    def _find(self, name: str) -> _Account:
        if name not in self._accounts:
            row = self._connection.execute(select(accounts).where(accounts.c.name == name)).first()
            found = _Account() if row is None else _Account(int(row.units), row.day, int(row.spent), True)
            if found.day > self._today + 1:
                found.day, found.spent = self._today, self._sum_today(name)
            self._accounts[name] = found
        return self._accounts[name]


def select_balance(connection: Connection, name: str) -> int | None:
    """Balance of an account; None if there is no such account."""
    found = connection.scalar(select(accounts.c.units).where(accounts.c.name == name))
    return None if found is None else int(found)


def check_entries(entries: Iterable[Mapping[str, Any]], kept: Mapping[str, int]) -> Iterator[str]:
    """Everything that is wrong with a ledger: a broken chain, an account that is not its sum, books off zero.

    `kept` is what each account says it holds.
    """
    previous, expected = GENESIS, 0
    sums: dict[str, int] = {}
    for row in entries:
        expected += 1
        sequence, units = row["sequence"], row["units"]
        body = {name: value for name, value in row.items() if name != "hash"}
        if sequence != expected or row["previous"] != previous:
            yield f"entry {sequence} does not follow the one before it"
        if digest_json(body) != row["hash"]:
            yield f"entry {sequence} does not match its hash"
        if units <= 0:
            yield f"entry {sequence} moves {units} units"
        previous, expected = row["hash"], sequence
        sums[row["debit"]] = sums.get(row["debit"], 0) - units
        sums[row["credit"]] = sums.get(row["credit"], 0) + units
    for name in sorted(kept.keys() | sums.keys()):
        if kept.get(name, 0) != sums.get(name, 0):
            yield f"account {name} holds {kept.get(name, 0)}, its entries make {sums.get(name, 0)}"
        if name != TREASURY and kept.get(name, 0) < 0:
            yield f"account {name} is below zero"
    if sum(kept.values()):
        yield f"the accounts are off by {sum(kept.values())} units"


def select_ledger_end(connection: Connection) -> tuple[int, str]:
    """The last entry's number and hash."""
    last = select(func.max(novelty_ledger.c.sequence)).scalar_subquery()
    row = connection.execute(
        select(novelty_ledger.c.sequence, novelty_ledger.c.hash).where(novelty_ledger.c.sequence == last)
    ).first()
    return (0, GENESIS) if row is None else (int(row.sequence), str(row.hash))


def find_spending_faults(entries: Sequence[Mapping[str, Any]], kept: Mapping[str, tuple[int, int]]) -> Iterator[str]:
    """Accounts whose day and spending are not what the entries of that day make; `kept` holds both by account.

    A clock that was set back by more than a day makes an account begin its day again, which entries do not show: then
    nothing is said.
    """
    newest, spent = 0.0, dict[str, tuple[int, int]]()
    for row in entries:
        if row["at"] < newest - DAY:
            return
        newest = max(newest, row["at"])
        if row["kind"] not in ("pay", "hold"):
            continue
        today = int(row["at"] // DAY)
        contributor = row["credit"].partition(":")[2]
        for name in (TREASURY, own_account(contributor)):
            day, units = spent.get(name, (0, 0))
            spent[name] = (max(day, today), (units if day >= today else 0) + row["units"])
    for name, found in kept.items():
        if found != spent.get(name, (0, 0)):
            yield f"account {name} says it spent {found[1]} units on day {found[0]}, its entries make {spent.get(name)}"
