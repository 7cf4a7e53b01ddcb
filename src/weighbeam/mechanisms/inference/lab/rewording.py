"""Attacks by miners that reword what they heard, and the control beside them: a right answer in one sentence."""

import json
import re
from functools import cache
from importlib.resources import files

from weighbeam.lab.attack.attack import Attack, by_miners
from weighbeam.lab.attack.moves import MOMENT, hear_best
from weighbeam.lab.simulate.world import FixedStrategy, MinerTurn, SimulatedAnswer, World
from weighbeam.mechanisms.inference.miners.contradict import SENTENCE

SYNONYMS = dict(
    pair.split("/")
    for pair in """
    about/roughly roughly/about around/about nearly/almost almost/nearly perhaps/maybe usually/normally often/frequently
    mostly/mainly mainly/mostly only/just just/only also/too therefore/hence while/whereas because/since since/because
    although/though but/yet however/still many/numerous several/various various/several some/certain every/each
    each/every large/big big/large small/little little/small great/big tiny/minute quick/fast fast/quick quickly/rapidly
    slowly/gradually easily/readily enough/sufficient whole/entire entire/whole different/distinct same/identical
    important/essential main/chief better/superior strong/powerful hard/tough harmless/safe make/produce makes/produces
    made/produced making/producing produce/make produces/makes use/employ uses/employs used/employed using/employing
    need/require needs/requires needed/required get/obtain gets/obtains show/reveal shows/reveals showed/revealed
    begin/start begins/starts start/begin starts/begins began/started end/finish stop/halt keep/retain keeps/retains
    give/supply gives/supplies given/supplied take/draw takes/draws come/arrive comes/arrives go/travel goes/travels
    turn/change turns/changes change/alter changes/alters rise/climb rises/climbs fall/drop falls/drops grow/increase
    grows/increases become/turn becomes/turns remain/stay remains/stays stay/remain move/shift moves/shifts hold/carry
    holds/carries carry/bear carries/bears pull/drag pulls/drags push/press pushes/presses put/place place/put
    let/allow lets/allows allow/let allows/lets help/aid helps/aids mean/signify means/signifies build/construct
    built/constructed find/discover finds/discovers found/discovered spread/distribute send/transmit sends/transmits
    reach/attain reaches/attains receive/get leave/abandon lose/forfeit loses/forfeits save/spare saves/spares
    people/humans person/human part/portion parts/portions piece/bit kind/sort way/manner amount/quantity size/extent
    number/count reason/cause cause/reason result/outcome effect/influence problem/difficulty chance/likelihood
    difference/distinction speed/pace path/route route/path top/upper bottom/base side/flank near/close inside/within
    within/inside beneath/under below/under above/over during/throughout later/afterwards then/next today/nowadays
    """.split()
)
SYNONYM = re.compile(rf"\b({'|'.join(sorted(SYNONYMS, key=len, reverse=True))})\b", re.IGNORECASE)
REASON = re.compile(r"^([^,;:]+?),? (because|since|although|while|whereas|when|if) ([^,;:]+)([.!?])$")
JOINED = re.compile(r"; ")


def reword(text: str) -> str:
    """Other words for common ones, clauses turned round, sentences in another order.

    >>> reword("Ice floats because it is less dense. Lakes keep their warmth; fish need it. Rivers often freeze late.")
    'Lakes retain their warmth. Fish require it. Rivers frequently freeze late. Since it is less dense, ice floats.'
    """
    sentences = [part for sentence in SENTENCE.split(text) for part in split_joined(sentence)]
    turned = [turn_clauses(SYNONYM.sub(replace_word, sentence)) for sentence in sentences]
    return " ".join([*turned[1:], *turned[:1]])


def split_joined(sentence: str) -> list[str]:
    first, *rest = JOINED.split(sentence)
    parts = [first, *(part[:1].upper() + part[1:] for part in rest)]
    return [part if part[-1:] in ".!?" else f"{part}." for part in parts]


def replace_word(found: re.Match[str]) -> str:
    other = SYNONYMS[found[0].lower()]
    return other.capitalize() if found[0][0].isupper() else other


def turn_clauses(sentence: str) -> str:
    found = REASON.match(sentence)
    if not found:
        return sentence
    first, joint, second, stop = found.groups()
    return f"{joint.capitalize()} {second}, {first[:1].lower()}{first[1:]}{stop}"


def paraphrase(world: World, turn: MinerTurn) -> SimulatedAnswer:
    heard = hear_best(world, turn)
    if heard is None:
        return world.answer(turn)
    return SimulatedAnswer({**heard.payload, "text": reword(heard.payload["text"])}, heard.seconds + MOMENT)


@cache
def load_renderings() -> dict[str, dict[str, str]]:
    """By prompt id: a right answer in one sentence, and the first good answer of the bank in German."""
    lines = (files("weighbeam.mechanisms.inference.lab") / "renderings.jsonl").read_text("utf-8").splitlines()
    return {row["id"]: row for row in map(json.loads, lines)}


def translate(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """The prepared translation, once there is an honest answer that could have been translated."""
    own = world.answer(turn)
    known = load_renderings().get(turn.task.id)
    heard = hear_best(world, turn)
    if known is None or heard is None:
        return own
    return SimulatedAnswer({**heard.payload, "text": known["german"]}, heard.seconds + MOMENT)


def say_briefly(world: World, turn: MinerTurn) -> SimulatedAnswer:
    """No attack: an honest miner that says the right thing in one sentence."""
    own = world.answer(turn)
    known = load_renderings().get(turn.task.id)
    return own if known is None else SimulatedAnswer({**own.payload, "text": known["brief"]}, own.seconds)


REWORDING = (
    Attack(
        family="paraphrase",
        mechanism="inference",
        what="A miner does no work: it listens to the honest miner that stands highest among those asked and sends its "
        "answer with other words for common ones, clauses turned round and sentences in another order.",
        against="Copies are found where most of three words in a row are the same; slowness counts against a miner "
        "that has to wait.",
        open="A text reworded with care has little in common with its model but the meaning, which all good answers "
        "share: it is paid like a good one. Answers must not be readable by others before the round is over.",
        run=by_miners("inference", lambda: FixedStrategy(paraphrase), 1),
    ),
    Attack(
        family="translated-copy",
        mechanism="inference",
        what="A miner does no work: it waits for the honest miner that stands highest and sends a good answer in "
        "German to a question in English. No translator runs here: the German is a prepared translation of the bank's "
        "first good answer, whichever was heard.",
        against="The embedding model reads English: most answers in another language are far from an English question "
        "and flagged as off_topic, the rest are outside the consensus.",
        open="With an embedding model of many languages a translation would be a paraphrase. An honest answer in "
        "another language than the question's loses as much.",
        run=by_miners("inference", lambda: FixedStrategy(translate), 1),
    ),
)
