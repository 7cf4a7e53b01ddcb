"""Attacks on evidence, one tuple of `Attack` per family."""

from typing import Any

import numpy as np

from weighbeam.core.quantise import MILLION
from weighbeam.lab.attack.attack import Attack
from weighbeam.lab.attack.moves import MOMENT, answer_as, repeat_best
from weighbeam.lab.simulate.world import FixedStrategy, MinerTurn, SimulatedAnswer, World
from weighbeam.mechanism.records import Task
from weighbeam.mechanisms.evidence.lab.pool import EvidenceFind, choose_best, count_value, format_snippet, rank_best
from weighbeam.mechanisms.evidence.lab.saved_web import EDITION, find_farm
from weighbeam.mechanisms.evidence.lab.season import AT_ONCE, PlaysTrick, by_finders, enter, play_trick
from weighbeam.mechanisms.evidence.lab.world import EDITIONS, EvidenceWorld, list_statements
from weighbeam.mechanisms.evidence.miners.library import open_library
from weighbeam.mechanisms.evidence.miners.passages import QuotablePassage
from weighbeam.mechanisms.evidence.stand import Memory, recall, remember_score
from weighbeam.mechanisms.evidence.task import find_archive

_COPYCAT_EVIDENCE = (
    Attack(
        family="copycat",
        mechanism="evidence",
        what="A miner does no work: it hears the answers of its round, and sends that of the best standing honest "
        "miner word for word a moment later.",
        against="Quotes are compared in the order in which answers arrive. Each is paid once, to the first; an answer "
        "with none of its own earns nothing.",
        open="Honest miners that find the same passage lose that quote and keep the others; none is accused here. A "
        "copy that arrives first makes the original the copy.",
        run=by_finders(lambda: FixedStrategy(repeat_best)),
    ),
)


FARM_SECONDS = 2.0


def farm(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """The sentence that was written for the statement, once from each of five domains."""
    limit = enter(world).params.max_snippets
    own = open_library(find_farm()).choose(turn.task.body["statement"], limit, 0, 1)
    return SimulatedAnswer({"snippets": [format_snippet(passage) for passage in own]}, FARM_SECONDS)


_DOMAIN_FARM_EVIDENCE = (
    Attack(
        family="domain-farm",
        mechanism="evidence",
        what="A miner owns five domains that are years old, with a page that says what statements say in other words, "
        "and quotes it once from each.",
        against="The same words count once in an answer, on however many domains they stand. A domain must be older "
        "than 30 days; further quotes of the same domain count half, a quarter and so on; only approved domains count "
        "three times.",
        open="Nothing shows. Five old domains with five wordings were not tried, and should pay as five honest quotes "
        "do. Against them there are the probe for pages made after the task, and the blacklist.",
        run=by_finders(lambda: FixedStrategy(farm)),
    ),
)


_FABRICATION_EVIDENCE = (
    Attack(
        family="fabrication",
        mechanism="evidence",
        what="A miner invents quotes that confirm the statement and gives real pages as their source.",
        against="Each quote that is not on its page costs a point, twice if it came quickly.",
        open="The penalty is milder than for a forgery, since pages change under honest quotes.",
        run=by_finders(lambda: PlaysTrick("inventor", AT_ONCE)),
    ),
)


RECYCLING_PLACES = 3


class RecyclingFinder:
    """Works with middling skill, counts what it will stand at, and gives its hotkey up unless that is among the
    first."""

    def __init__(self) -> None:
        self._falls = False

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        here = enter(world)
        finds = here.choose_finds(turn, here.find(turn.task))
        said = SimulatedAnswer(here.quote(turn, finds), here.take_time(turn))
        memories = {one.hotkey: recall(one) for one in turn.standings}
        own = memories.pop(turn.hotkey, Memory())
        after = remember_score(own, count_value(finds, said.seconds, here.params), here.params).average or 0.0
        self._falls = sum((one.average or 0.0) > after for one in memories.values()) >= RECYCLING_PLACES
        return said

    def leaves(self, turns: int) -> bool:
        return turns > 0 and self._falls


_IMMUNITY_RECYCLING_EVIDENCE = (
    Attack(
        family="immunity-recycling",
        mechanism="evidence",
        what="A miner of middling skill counts what each answer will bring it, and comes back under a new hotkey "
        "unless that puts it among the first three. The first response alone sets an average.",
        against="A new hotkey has nothing until it is asked, and is drawn no more often than others. The price of "
        "registering is not counted here.",
        open="It earns about what honest work of the same skill does, perhaps a little more: some statements yield "
        "three times what others do, and luck with the first is worth as much as what is thrown away for it.",
        run=by_finders(RecyclingFinder),
    ),
)


_INSTANT_GARBAGE_EVIDENCE = (
    Attack(
        family="instant-garbage",
        mechanism="evidence",
        what="A miner sends true quotes that have least to do with the statement, at once, to win by speed.",
        against="Unrelated passages are worth nothing, and twice nothing is nothing. It stands behind everybody who "
        "works.",
        open="Nothing is held against it, since honest searches bring unrelated passages too: it is never found out, "
        "and still ranks above those who are punished.",
        run=by_finders(lambda: PlaysTrick("unrelated", AT_ONCE)),
    ),
)


STRAY_SECONDS = 5.0
STRAY_REACH = 40


class StrayFinder:
    """Reads every page but those about the statement, and sends what a model is surest about."""

    def __init__(self) -> None:
        self._found: dict[str, list[dict[str, Any]]] = {}

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        if turn.task.id not in self._found:
            self._found[turn.task.id] = stray(enter(world), turn.task)
        return SimulatedAnswer({"snippets": self._found[turn.task.id]}, STRAY_SECONDS)


def stray(world: EvidenceWorld, task: Task) -> list[dict[str, Any]]:
    finds = world.judge(task, find_near(world, task)[:STRAY_REACH])
    best = choose_best(finds, [find.worth for find in finds], world.params.max_snippets)
    return [format_snippet(find.passage) for find in best]


def find_near(world: EvidenceWorld, task: Task) -> list[QuotablePassage]:
    """Passages of pages about other matters that are just near enough not to count as unrelated, the nearest first."""
    statement = task.body["statement"]
    about = next(row["pages"] for row in list_statements() if row["statement"] == statement)
    others = [passage for passage in open_library(find_archive()).passages if passage.url not in about]
    vectors = world.senses.embedder.embed([statement, *(passage.text for passage in others)]).astype(np.float64)
    near = vectors[1:] @ vectors[0] / MILLION**2
    return [others[place] for place in np.argsort(-near, kind="stable") if near[place] > world.params.relevance_floor]


_LOOSE_CONTRADICTION_EVIDENCE = (
    Attack(
        family="loose-contradiction",
        mechanism="evidence",
        what="A miner leaves out every page about the statement. Among the sentences of all other pages it sends "
        "those that a language model takes most surely for a contradiction, from as many sites as it can.",
        against="A passage must be near enough to the statement: a cosine of 0.20 with it, in the default parameters. "
        "Above that, pay follows the square of its relevance.",
        open="Nothing shows: whatever is not neutral counts, and the built-in model calls much a contradiction that is "
        "merely about something else. With relevance_power 0 it earned seven times what honest work does.",
        run=by_finders(StrayFinder),
    ),
)


_MEANING_FLIP_EVIDENCE = (
    Attack(
        family="meaning-flip",
        mechanism="evidence",
        what="A miner takes true quotes, drops or adds a small word such as 'not', and adds a sentence that stands "
        "where no reader sees it.",
        against="Denials, quantities and numbers must match exactly. A quote that is on the page but for such a word "
        "is a forgery and costs five points.",
        open="A flip by other words, an adjective for its opposite, is merely not found on the page: that costs a "
        "point.",
        run=by_finders(lambda: PlaysTrick("forger")),
    ),
)


def readdress_best(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """Copy the best answer, with the miner's own number behind every address."""
    said = repeat_best(world, turn)
    quotes = [{**one, "url": one["url"].partition(EDITION)[0] + f"{EDITION}{EDITIONS}"} for one in parse_quotes(said)]
    return SimulatedAnswer({"snippets": quotes}, said.seconds)


def parse_quotes(said: SimulatedAnswer) -> list[dict[str, str]]:
    quotes: list[dict[str, str]] = said.payload["snippets"]
    return quotes


_NEAR_DUPLICATE_EVIDENCE = (
    Attack(
        family="near-duplicate",
        mechanism="evidence",
        what="A miner sends the quotes of the best standing honest miner of its round, and hangs a number of its own "
        "behind every address. Servers ignore it and show the same page.",
        against="Nothing by default: two quotes are the same only if their pages have the same key, and a query that "
        "nobody knows makes another key. With copy_scope = anywhere words alone are compared, and it earns nothing.",
        open="It pays by default, and nothing shows. To compare words alone costs honest miners that find the same "
        "passage: in this world, whose archive has two pages for a statement, one in eleven then looks like a copier.",
        run=by_finders(lambda: FixedStrategy(readdress_best)),
    ),
)


_PADDING_EVIDENCE = (
    Attack(
        family="padding",
        mechanism="evidence",
        what="A miner sends one good quote and inventions that make it look like many.",
        against="Only five quotes are read, and each that is not on its page costs a point: the good one does not "
        "make up for them.",
        open="Padding with true but unrelated quotes costs nothing, and gains nothing either.",
        run=by_finders(lambda: PlaysTrick("stuffer")),
    ),
)


PATCHED_EACH = 2
"""Of five quotes two may be another's: under `copies = "answer"` half of them would make a copy."""


def patch(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """The best of what all honest miners sent, as far as nobody's share gets too large."""
    if not turn.heard:
        return world.answer(turn)
    here, answers = enter(world), [said.payload["snippets"] for _, said in sorted(turn.heard.items())]
    known = {(one.passage.url, one.passage.text): one for one in here.find(turn.task)}
    quotes = list({tuple(quote.values()): quote for answer in answers for quote in answer}.values())
    finds = [known[quote["url"].partition(EDITION)[0], quote["excerpt"]] for quote in quotes]
    taken: list[dict[str, str]] = []
    for place in rank_best(finds, [find.worth for find in finds]):
        mine = [*taken, quotes[place]]
        if finds[place].local and all(sum(quote in answer for quote in mine) <= PATCHED_EACH for answer in answers):
            taken = mine
    seconds = max(said.seconds for said in turn.heard.values()) + MOMENT
    return SimulatedAnswer({"snippets": taken[: here.params.max_snippets]}, seconds)


_PATCHWORK_EVIDENCE = (
    Attack(
        family="patchwork",
        mechanism="evidence",
        what="A miner hears all honest answers of its round and sends the five best quotes of them, of each answer no "
        "more than two.",
        against="Each quote is paid to its first sender, so nothing is left for the attacker. Before quotes were "
        "compared one by one it earned what an average miner does: two of five were less than half.",
        open="A quote that it finds itself beside them is paid. With other addresses of the same pages it is the "
        "near-duplicate.",
        run=by_finders(lambda: FixedStrategy(patch)),
    ),
)


_PROMPT_ECHO_EVIDENCE = (
    Attack(
        family="prompt-echo",
        mechanism="evidence",
        what="A miner sends the statement itself, five times, as if real pages said it.",
        against="An excerpt that repeats the statement, or is too close to it in meaning, costs five points before "
        "any page is read; quick answers lose twice.",
        open="Only a thorough paraphrase passes, and that has to stand on the page.",
        run=by_finders(lambda: PlaysTrick("parrot", AT_ONCE)),
    ),
)


WORKING_TURNS = 20
SANDBAG_LONGER = 3


def rest_later(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """The best there is while the average learns fast, then anything at all, at once."""
    return answer_as(world, turn, skill=1.0) if turn.turn < WORKING_TURNS else play_trick("unrelated", turn, AT_ONCE)


_SANDBAG_THEN_BURST_EVIDENCE = (
    Attack(
        family="sandbag-then-burst",
        mechanism="evidence",
        what="A miner works like the best until its average has the longer memory, then sends anything at all, at "
        "once. Here the fast phase is cut from 100 responses to 20, so that a season shows both.",
        against="Even the longer memory is short: an answer worth nothing takes 30 % off the average, and two or "
        "three of them cost the rank.",
        open="It comes out above an average miner, since for half of the season it is the best of all; going on would "
        "bring more than twice as much, so that resting adds next to nothing. A miner that rests for one answer loses "
        "little, and nothing shows it.",
        run=by_finders(
            lambda: FixedStrategy(rest_later), longer=SANDBAG_LONGER, params={"immunity_responses": WORKING_TURNS}
        ),
    ),
)


SYBIL_IDENTITIES, SYBIL_LONGER = 4, 3


class SharedSearchStrategy:
    """The first that is asked in a round searches with middling skill; the others send the same."""

    def __init__(self) -> None:
        self._found: dict[int, SimulatedAnswer] = {}

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        if turn.round not in self._found:
            self._found[turn.round] = world.answer(turn)
        return self._found[turn.round]


class DividedSearchStrategy:
    """Each miner that is asked sends the best of what the earlier ones have left."""

    def __init__(self) -> None:
        self._used: dict[int, set[EvidenceFind]] = {}

    def answer(self, world: World, turn: MinerTurn) -> SimulatedAnswer:
        here, used = enter(world), self._used.setdefault(turn.round, set())
        chosen = here.choose_finds(turn, [find for find in here.find(turn.task) if find not in used])
        used.update(chosen)
        return SimulatedAnswer(here.quote(turn, chosen), here.take_time(turn))


_SYBIL_EVIDENCE = (
    Attack(
        family="sybil",
        mechanism="evidence",
        what="One operator registers four miners, searches once a round with middling skill, and lets all of them who "
        "are asked send the same.",
        against="Of those who are asked in the same round only the first is paid; the quotes of the others are copies.",
        open="A round asks five: often only one of the four is among them, and nothing compares answers across "
        "rounds. Together the four earn more than one miner of the same skill for the work of one.",
        run=by_finders(SharedSearchStrategy, SYBIL_IDENTITIES, SYBIL_LONGER),
    ),
    Attack(
        family="sybil-split",
        mechanism="evidence",
        what="One operator registers four miners and searches once a round with middling skill. The first that is "
        "asked sends the best five quotes, the next ones the best that are left.",
        against="Nothing but the price of registering: no two of the answers have a quote in common.",
        open="Each of the four earns somewhat less than an honest miner of that skill, all four together clearly "
        "more. The mechanism cannot know that they are one.",
        run=by_finders(DividedSearchStrategy, SYBIL_IDENTITIES, SYBIL_LONGER),
    ),
)


ATTACKS = (
    *_COPYCAT_EVIDENCE,
    *_DOMAIN_FARM_EVIDENCE,
    *_FABRICATION_EVIDENCE,
    *_IMMUNITY_RECYCLING_EVIDENCE,
    *_INSTANT_GARBAGE_EVIDENCE,
    *_LOOSE_CONTRADICTION_EVIDENCE,
    *_MEANING_FLIP_EVIDENCE,
    *_NEAR_DUPLICATE_EVIDENCE,
    *_PADDING_EVIDENCE,
    *_PATCHWORK_EVIDENCE,
    *_PROMPT_ECHO_EVIDENCE,
    *_SANDBAG_THEN_BURST_EVIDENCE,
    *_SYBIL_EVIDENCE,
)
