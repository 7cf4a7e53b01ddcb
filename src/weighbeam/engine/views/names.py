"""Names of miners for people: a name beside its uid and hotkey, and the miner that a name, a uid or a hotkey means.

A name comes from the settings, from the cast of a demo, or from the chain, in that order. It is a label and nothing
else: a miner stays its hotkey, and two miners with one name stay two.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from sqlalchemy import select

from weighbeam.core.errors import WeighbeamError
from weighbeam.core.names import clean_name, shorten
from weighbeam.engine.weights.metagraphs import GRAPHS, select_newest_graph
from weighbeam.store import tables
from weighbeam.store.database import Store
from weighbeam.store.memory import look_up, remember

CAST = "cast"
ROLES = ("honest", "hostile", "guest", "validator", "owner")
LEAST_PREFIX = 3
MAX_DIGITS = 5
MAX_LISTED = 8
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CastAct:
    """Role of a demo's miner in one mechanism: its name there, and a description."""

    name: str
    about: str


@dataclass(frozen=True, slots=True)
class CastMember:
    """A neuron of a demo: whether it is honest or hostile, and how, by mechanism."""

    name: str
    role: str
    acts: Mapping[str, CastAct] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MinerName:
    """A miner as people know it. `role` and `act` are known of a demo's cast alone."""

    hotkey: str
    name: str | None = None
    uid: int | None = None
    role: str | None = None
    act: CastAct | None = None

    @property
    def short(self) -> str:
        return shorten(self.hotkey)

    @property
    def label(self) -> str:
        """For charts; no two miners have the same. With a uid, a name needs no hotkey beside it.

        >>> hotkey = "5FhnomziA8LvBjVgFmNbwRacmvvnbJUhZ9g8X3qeQAw8D5HY"
        >>> [MinerName(hotkey, "ada", 7).label, MinerName(hotkey, "ada").label, MinerName(hotkey, None, 7).label]
        ['ada · 7', 'ada · 5Fhnom…8D5HY', '7 · 5Fhnom…8D5HY']
        """
        known = (
            (self.name, self.uid)
            if self.name is not None and self.uid is not None
            else (self.name, self.uid, self.short)
        )
        return " · ".join(str(one) for one in known if one is not None)


@dataclass(frozen=True, slots=True)
class NameBook:
    """All names and uids of a journal: `aliases` are the operator's own, `chain` what miners call themselves, and
    `known` all hotkeys that have a standing or a score."""

    aliases: Mapping[str, str] = field(default_factory=dict)
    cast: Mapping[str, CastMember] = field(default_factory=dict)
    chain: Mapping[str, str] = field(default_factory=dict)
    uids: Mapping[str, int] = field(default_factory=dict)
    known: frozenset[str] = frozenset()

    def find(self, hotkey: str, mechanism: str | None = None) -> MinerName:
        """Find the names of a hotkey; a demo's miner has the name of its role in the mechanism."""
        member = self.cast.get(hotkey)
        act = None if member is None or mechanism is None else member.acts.get(mechanism)
        role = None if member is None else member.role
        return MinerName(hotkey, self.name(hotkey, mechanism), self.uids.get(hotkey), role, act)

    def name(self, hotkey: str, mechanism: str | None = None) -> str | None:
        if hotkey in self.aliases:
            return self.aliases[hotkey]
        if hotkey in self.cast:
            member = self.cast[hotkey]
            act = None if mechanism is None else member.acts.get(mechanism)
            return member.name if act is None else act.name
        return self.chain.get(hotkey)

    def name_all(self, lines: Iterable[T], mechanism: str | None = None) -> tuple[T, ...]:
        """The same records of miners, each with its `name`."""
        return tuple(self.name_line(line, mechanism) for line in lines)

    def name_each(self, hotkeys: Iterable[str], mechanism: str | None = None) -> tuple[str | None, ...]:
        return tuple(self.name(hotkey, mechanism) for hotkey in hotkeys)

    def name_line(self, line: T, mechanism: str | None = None) -> T:
        found: Any = line
        named: T = replace(found, name=self.name(found.hotkey, mechanism))
        return named

    def resolve(self, given: str, mechanism: str | None = None) -> str:
        """The hotkey that a text means: a hotkey, a uid, a name, or the beginning of a hotkey.

        A text that means nobody is given back, for it may be a hotkey that has left. `ambiguous_miner` if it means more
        than one; a hotkey or a uid in full always means its own.
        """
        there = dict.fromkeys((*sorted(self.known), *self.uids, *self.aliases, *self.cast))
        if given in there:
            return given
        text = given.strip()
        found = self._find_uid(text) or self._find_named(text, there, mechanism)
        if len(found) > 1:
            raise self._refuse(text, found)
        return found[0] if found else given

    def find_named(self, part: str) -> tuple[str, ...]:
        """The hotkeys whose name, in any mechanism, contains this text."""
        wanted = part.casefold()
        there = sorted({*self.aliases, *self.cast, *self.chain})
        names = {one: {(self.name(one) or "").casefold(), *self._list_other_names(one)} for one in there}
        return tuple(one for one, known in names.items() if any(wanted in name for name in known))

    def _find_uid(self, text: str) -> list[str]:
        number = text.lower().removeprefix("uid").strip()
        if not (number.isascii() and number.isdigit() and len(number) <= MAX_DIGITS):
            return []
        return [hotkey for hotkey, uid in self.uids.items() if uid == int(number)]

    def _find_named(self, text: str, there: Collection[str], mechanism: str | None) -> list[str]:
        folded = text.casefold()
        if not folded:
            return []
        named = [one for one in there if (self.name(one, mechanism) or "").casefold() == folded]
        begun = [one for one in there if fits(text, one)]
        other = [one for one in there if folded in self._list_other_names(one)]
        return list(dict.fromkeys((*named, *begun))) or other

    def _list_other_names(self, hotkey: str) -> set[str]:
        """Other names of a demo's miner."""
        member = self.cast.get(hotkey)
        if member is None:
            return set()
        return {name.casefold() for name in (member.name, *(act.name for act in member.acts.values()))}

    def describe(self, hotkey: str, mechanism: str | None = None) -> str:
        """Name, uid and the whole hotkey, as far as they are known."""
        one = self.find(hotkey, mechanism)
        uid = "" if one.uid is None else f"uid {one.uid}"
        return " · ".join(part for part in (one.name, uid, hotkey) if part)

    def _refuse(self, text: str, found: list[str]) -> WeighbeamError:
        listed = "; ".join(self.describe(hotkey) for hotkey in found[:MAX_LISTED])
        more = f" and {len(found) - MAX_LISTED} more" if len(found) > MAX_LISTED else ""
        message = f"{clean_name(text)!r} means {len(found)} miners: {listed}{more}"
        return WeighbeamError("ambiguous_miner", message, "name one by its uid or its whole hotkey")


def fits(text: str, hotkey: str) -> bool:
    """Whether a text is how a hotkey begins, or its short form as tables show it.

    >>> fits("5Fhn", "5FhnomziA"), fits("5Fhn…iA", "5FhnomziA"), fits("5F…zz", "5FhnomziA"), fits("5F", "5FhnomziA")
    (True, True, False, False)
    """
    head, _, tail = text.replace("...", "…").partition("…")
    return len(head) >= LEAST_PREFIX and hotkey.startswith(head) and hotkey.endswith(tail)


NO_NAMES = NameBook()


def load_names(store: Store, aliases: Mapping[str, str] | None = None) -> NameBook:
    """The names of a journal; `aliases` are those of the settings."""
    with store.read() as connection:
        mechanisms = connection.scalars(select(GRAPHS.mechanism).distinct()).all()
        graphs = [graph for one in mechanisms if (graph := select_newest_graph(connection, one)) is not None]
        cast = _parse_cast(look_up(connection, CAST))
        known = frozenset(connection.scalars(select(tables.miners.c.hotkey).distinct()))
    newest = max(graphs, key=lambda one: one.block, default=None)
    neurons = () if newest is None else newest.neurons
    chain = {one.hotkey: one.name for one in neurons if one.name is not None}
    return NameBook(aliases or {}, cast, chain, {one.hotkey: one.uid for one in neurons}, known)


def note_cast(store: Store, cast: Mapping[str, CastMember]) -> None:
    """Keep the cast of a demo with its journal, so that everything that reads the journal knows it."""
    kept = {
        hotkey: {
            "name": member.name,
            "role": member.role,
            "acts": {name: [act.name, act.about] for name, act in member.acts.items()},
        }
        for hotkey, member in cast.items()
    }
    remember(store, CAST, kept)


def _parse_cast(kept: Any) -> dict[str, CastMember]:
    """Parse the cast in a journal; a journal may come from a stranger, so each word is checked."""
    found: dict[str, CastMember] = {}
    for hotkey, row in kept.items() if isinstance(kept, dict) else ():
        name, role = (clean_name(row.get("name")), row.get("role")) if isinstance(row, dict) else (None, None)
        if name is not None and role in ROLES:
            acts = row.get("acts")
            parsed = {one: _parse_act(act) for one, act in acts.items()} if isinstance(acts, dict) else {}
            found[hotkey] = CastMember(name, role, {one: act for one, act in parsed.items() if act is not None})
    return found


def _parse_act(row: Any) -> CastAct | None:
    if not isinstance(row, list) or len(row) != 2:
        return None
    name, about = map(clean_name, row)
    return None if name is None else CastAct(name, about or "")
