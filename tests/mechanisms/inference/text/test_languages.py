"""The language of a text: named where it can be told, never guessed from a word or two."""

import pytest

from weighbeam.mechanisms.inference.text.languages import find_language, list_glue

KNOWN = {
    "en": "The river is wide here, and a small ferry takes people to the other side of it.",
    "de": "Der Fluss ist hier breit, und eine kleine Fähre bringt die Leute auf die andere Seite.",
    "fr": "La rivière est large ici, et un petit bac emmène les gens de l'autre côté.",
    "es": "El río es ancho aquí, y una pequeña barca lleva a la gente hasta la otra orilla.",
    "it": "Il fiume qui è largo, e un piccolo traghetto porta la gente sull'altra sponda.",
    "ru": "Река здесь широкая, и маленький паром перевозит людей на другой берег.",
    "ar": "النهر واسع هنا، وعبّارة صغيرة تنقل الناس إلى الضفة الأخرى منه كل صباح.",
    "zh": "这里的河很宽，一艘小渡船把人们送到对岸。",
    "ja": "ここの川は広く、小さな渡し船が人々を向こう岸へ運びます。",
}


@pytest.mark.parametrize("language", KNOWN)
def test_a_sentence_has_a_language(language: str) -> None:
    assert find_language(KNOWN[language]) == language


@pytest.mark.parametrize("text", ["", "Rugby.", "…", "🌉", "潮汐", "Ja, das ist so.", "42"])
def test_a_few_words_have_none(text: str) -> None:
    assert find_language(text) is None


def test_function_words_are_those_of_the_language_or_of_english() -> None:
    assert "und" in list_glue("de")
    assert "und" not in list_glue("en")
    assert list_glue(None) == list_glue("ru") == list_glue("en")
