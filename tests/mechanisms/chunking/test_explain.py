"""Explanations: the arithmetic shown is the arithmetic done, and a failure points at the word."""

import re

from weighbeam.mechanism.records import Node, Observation
from weighbeam.mechanisms.chunking.documents import example_rounds
from weighbeam.mechanisms.chunking.explain import StandingChange, explain_score
from weighbeam.mechanisms.chunking.failure import describe_failure
from weighbeam.mechanisms.chunking.mechanism import Chunking
from weighbeam.mechanisms.chunking.params import ChunkingParams
from weighbeam.senses.local import LocalSenses

CHUNKING, PARAMS = Chunking(), ChunkingParams()


def lines(node: Node) -> list[str]:
    return [node.text, *(line for child in node.children for line in lines(child))]


def explain(hotkey: str, senses: LocalSenses, change: StandingChange | None = None) -> str:
    observation = CHUNKING.observe(PARAMS, example_rounds()[0], senses)
    scored = CHUNKING.score(PARAMS, observation)
    return "\n".join(lines(explain_score(PARAMS, observation, scored, hotkey, change)))


def test_a_person_can_multiply_the_reward_out(senses: LocalSenses) -> None:
    text = explain("late", senses)
    similarity, factor, reward = map(
        float, re.search(r"reward = similarity × factor = (\S+) × (\S+) = (\S+)", text).groups()
    )
    assert abs(similarity * factor - reward) < 1e-9
    within, between, again = map(float, re.search(r"within − between = (\S+) − (\S+) = (\S+)", text).groups())
    assert abs(within - between - again) < 1e-8
    assert again == similarity
    base, power = map(float, re.search(r"factor = (\S+)\^(\S+) =", text).groups())
    assert abs(base**power - factor) < 1e-5
    assert "time 5.75 = 9.5 s, 5.75 over 3.75" in text


def test_the_worst_pairs_are_shown_with_their_texts(senses: LocalSenses) -> None:
    text = explain("pairs", senses)
    assert "least alike within a chunk" in text
    assert "most alike in different chunks" in text
    assert len(re.findall(r"^chunk \d+: [A-Z]", text, re.M)) >= 8


def test_ties_places_and_standings_are_told(senses: LocalSenses) -> None:
    text = explain("copy", senses, StandingChange(3.0, 2.6, 0.125))
    assert "place 1.5 of 11 judged, shared with 1 more" in text
    assert "standing 3 → 2.6" in text
    assert "weight 0.125" in text


def test_a_new_word_is_named_with_its_surroundings_and_what_belongs_there(senses: LocalSenses) -> None:
    text = explain("inventor", senses)
    assert "new_words" in text
    assert "⟦Something⟧ else entirely." in text
    assert "the document has, at character 0: A lighthouse" in text


def test_missing_words_are_pointed_at_in_the_document(senses: LocalSenses) -> None:
    assert re.search(r"⟦.\s+The working⟧ unit of the kidney", explain("dropper", senses))


def test_our_own_fault_is_said_to_be_ours(senses: LocalSenses) -> None:
    assert "nothing is charged to the miner" in explain("our-fault", senses)


def test_explanations_survive_the_loss_of_texts(senses: LocalSenses) -> None:
    full = CHUNKING.observe(PARAMS, example_rounds()[0], senses)
    bare = Observation.unpack(full.pack())
    scored = CHUNKING.score(PARAMS, bare)
    for score in scored.scores:
        assert lines(CHUNKING.explain(PARAMS, bare, scored, score.hotkey))


def test_the_first_wrong_word_deep_in_a_chunk() -> None:
    document = "The lamp keeper rows out at dusk. He trims the wick and fills the tank."
    chunk = "The lamp keeper rows out at dusk. He trims the old wick."
    check = {"failure": "new_words", "chunk": 0, "word": 11, "at": 47, "text": "old"}
    trouble = describe_failure(check, [chunk], document)
    assert (trouble.before, trouble.text, trouble.after) == (chunk[7:47], "old", " wick.")
    assert trouble.document_has.startswith("wick and fills")
    assert trouble.document_at == document.index("wick")


def test_decomposed_text_is_shown_as_it_stands() -> None:
    document = "cafe\u0301 bar baz " + "one two three " * 50 + "café"
    check = {"failure": "missing_words", "chunk": None, "word": 0, "at": 0, "text": "café bar baz"}
    trouble = describe_failure(check, ["one"], document)
    assert trouble.text == "cafe\u0301 bar baz"
    check = {"failure": "new_words", "chunk": 0, "word": 1, "at": 4, "text": "twéx"}
    assert describe_failure(check, ["one twe\u0301x three"], "one two three").text == "twe\u0301x"
