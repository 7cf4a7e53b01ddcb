"""With the real embedder: long texts, hidden characters, what is held and what is not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from weighbeam.core.errors import WeighbeamError
from weighbeam.mechanisms.novelty.desk.desk import NoveltyDesk, open_desk
from weighbeam.mechanisms.novelty.desk.opening import open_novelty, open_to_check
from weighbeam.mechanisms.novelty.measure import measure_text
from weighbeam.mechanisms.novelty.params import NoveltyParams
from weighbeam.network.keys import Hotkey
from weighbeam.senses.local import LocalSenses
from weighbeam.store.database import Store

PARAMS = NoveltyParams()
STORY = " ".join(
    f"On day {day} the ferry to the {place} left at {hour} with {people} people, and the mate {deed}."
    for day, (place, hour, people, deed) in enumerate(
        zip(
            ["north island", "salt works", "lighthouse", "old mine", "bird cliffs", "market", "monastery", "dunes"] * 5,
            ["dawn", "noon", "six", "nine", "dusk", "ten", "five", "eight"] * 5,
            range(40, 80),
            [
                "sang",
                "slept",
                "mended a net",
                "lost his cap",
                "told of a storm",
                "counted gulls",
                "said nothing",
                "swore",
            ]
            * 5,
            strict=True,
        )
    )
)
PLAUSIBLE = [
    "Sea otters hold hands while they sleep.",
    "Water boils at 71 degrees Celsius on top of Mount Everest, so tea there is weak.",
    "The committee's 2019 report (see table 4) found that 38 % of respondents had changed jobs twice.",
    "Honestly? I never liked olives, but my grandmother's were different.",
    "Photosynthesis converts carbon dioxide and water into glucose and oxygen, using sunlight.",
    "To reset the router, hold the small button for ten seconds until both lamps blink.",
]
IMPLAUSIBLE = [
    "xqzv wkjh ppqr zzxv mnbq rrtk vvbn qwpz lkjq",
    "buy buy buy buy buy buy buy buy buy buy",
    "1234 5678 9012 3456 7890 1234 abc def",
    "table river seventeen orange quickly mountain violin paper cloud harbour engine spoon",
    "😀 😁 😂 🤣 word word word 😃 😄 😅",
    "Ѕеа οttеrѕ hοld hаndѕ whіlе thеу ѕlеер іn thе kеlр οf thе bау.",
]


@pytest.fixture(scope="module")
def senses() -> LocalSenses:
    return LocalSenses()


@pytest.fixture
def desk(tmp_path: Path, senses: LocalSenses) -> Iterator[NoveltyDesk]:
    store = Store(f"sqlite:///{tmp_path / 'n.db'}")
    yield open_desk(store, senses, Hotkey.from_uri("//Node", "ed25519"))
    store.close()


def test_a_known_text_in_parts_or_buried_is_not_new(desk: NoveltyDesk) -> None:
    words = STORY.split()
    assert len(words) > 3 * PARAMS.piece_words
    desk.submit("ada", STORY)
    part = desk.submit("bob", " ".join(words[200:380]))
    assert part["micro"] > 900_000
    padding = "The following lines are about something else entirely, namely bread and how it is baked at night. " * 8
    buried = desk.submit("cleo", f"{padding} {' '.join(words[:330])} {padding}")
    assert buried["micro"] > 900_000


def test_characters_nobody_sees_do_not_make_it_new(desk: NoveltyDesk) -> None:
    line = "Bread dough that rests overnight in a refrigerator ferments slowly and tastes of more."
    desk.submit("ada", line)
    hidden = "\u034f".join(line)
    assert desk.submit("bob", hidden)["units"] == 0
    marked = line.replace("e", "e\ufe0f")
    assert desk.submit("cleo", marked)["units"] == 0


@pytest.mark.parametrize("text", PLAUSIBLE)
def test_plain_text_is_plausible(senses: LocalSenses, text: str) -> None:
    assert measure_text(text, PARAMS, senses).doubts == ()


@pytest.mark.parametrize("text", IMPLAUSIBLE)
def test_noise_is_implausible(senses: LocalSenses, text: str) -> None:
    assert measure_text(text, PARAMS, senses).doubts != ()


def test_every_word_of_a_dense_text_is_read(senses: LocalSenses) -> None:
    """A piece longer than the embedder's window is cut again, so that nothing hides behind its end."""
    dense = " ".join(f"antidisestablishmentarianism-{number}" for number in range(150))
    measured = measure_text(dense, PARAMS, senses)
    assert len(measured.vectors) > 8
    tail = dense.replace("-149", "-149 hides that sea otters hold hands")
    assert (measure_text(tail, PARAMS, senses).vectors[-1] != measured.vectors[-1]).any()


def test_a_giant_word_hides_nothing_behind_it(desk: NoveltyDesk) -> None:
    """An embedder reads so many characters, and takes a word of more than a hundred letters for none it knows."""
    words = " ".join(STORY.split()[:150])
    desk.submit("ada", words)
    for head in ("apple", "zebra", "violin"):
        given = desk.submit("bob", f"{head} {'a' * 16_400} {words}")
        assert given["status"] == "held" or given["micro"] > 900_000


@pytest.mark.parametrize("letter", ["\u3164", "\u115f", "\u1160", "\uffa0", "\u2800", "\U000e0041", "\u180e"])
def test_letters_nobody_sees_do_not_make_it_new(desk: NoveltyDesk, letter: str) -> None:
    line = "Bread dough that rests overnight in a refrigerator ferments slowly and tastes of more."
    desk.submit("ada", line)
    words = [word[:2] + letter + word[2:] if place % 2 else word for place, word in enumerate(line.split())]
    assert desk.submit("bob", " ".join(words))["status"] == "duplicate"


def test_what_the_embedder_cannot_tell_apart_is_held(desk: NoveltyDesk) -> None:
    line = "Bread dough that rests overnight in a refrigerator ferments slowly and tastes of more."
    strange = " ".join(word + "\U00013000" if place % 3 == 0 else word for place, word in enumerate(line.split()))
    assert desk.submit("ada", strange)["status"] == "held"


def test_one_text_costs_no_more_than_so_many_pieces(senses: LocalSenses) -> None:
    dense = "Three plain words " + " ".join("?!" * 13 for _ in range(735))
    with pytest.raises(WeighbeamError, match="too_long"):
        measure_text(dense, PARAMS, senses)


def test_no_window_of_a_known_text_is_paid(desk: NoveltyDesk) -> None:
    """However few its words are, and from any contributor."""
    text = (
        "The old harbour of our town was built when herring still filled the bay every autumn. Fishermen from three "
        "villages shared the cost of the stone pier, and each family received a mooring in return."
    )
    assert desk.submit("ada", text)["units"] > 0
    words = text.split()
    shreds = [words[start : start + count] for count in (3, 4, 5, 8) for start in range(0, len(words) - count, 3)]
    paid = {" ".join(shred): desk.check(" ".join(shred), "bob").units for shred in shreds}
    assert {text: units for text, units in paid.items() if units} == {}


def test_texts_of_few_words_share_one_cap(desk: NoveltyDesk) -> None:
    """Somebody who hands in a new text in shreds is paid for one of them; others for their own."""
    shreds = ["Herring filled the bay", "A cannery gave jobs", "Old men argue here", "Barrels went by cart"]
    paid = [desk.submit("ada", shred)["units"] for shred in shreds]
    assert sum(paid) == paid[0] == 100_000_000_000
    assert desk.submit("bob", "Glaciers grind the rock")["units"] == 100_000_000_000


def test_a_check_asks_what_follows_from_what_as_a_submission_does(tmp_path: Path, senses: LocalSenses) -> None:
    place = str(tmp_path / "n.db")
    desk = open_novelty(place, senses=senses)
    desk.submit("ada", "Farmers in the valley expect a poor olive harvest after the dry spring.")
    said = "After a dry spring, growers in the valley foresee few olives."
    found = open_to_check(place).check(said, "bob")
    assert found.facts is not None
    assert found.facts.entailed is not None, "a pair that only entailment decides"
    assert found == desk.check(said, "bob")
    assert found.units == desk.submit("bob", said)["units"]
