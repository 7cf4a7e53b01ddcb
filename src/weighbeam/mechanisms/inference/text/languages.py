"""The language of a text, and the words that every text of a language has (spec § 18).

English with enough function words, and scripts that belong to few languages, are recognised by their words and letters.
Everything else is left to py3langid. A short text has no language we could be sure of, and then no rule of a language
is applied to it.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from weighbeam.core.text import FUNCTION_WORDS, find_words

ENGLISH = "en"
LEAST_WORDS = 8
ENGLISH_GLUE = 0.2
SURE = 0.5
MAX_LETTERS = 2000

LANGUAGES = (
    "af ar bg bn ca cs cy da de el en eo es et eu fa fi fr ga gl he hi hr hu id is it ja ko la lt lv ms "
    "mt nl no pl pt ro ru sk sl sq sr sv sw ta th tl tr uk ur vi zh"
).split()
SPACELESS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]")
"""Letters of Chinese, Japanese and Korean, which are read in pairs."""

GLUE = {
    "de": """
        aber alle als also am an auch auf aus bei beim bin bis bist da damit dann das dass dem den der des die
        dies diese dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas für gegen gibt
        haben hat hatte hier ich ihr ihre im in ist ja jede jeder kann kein keine können man mehr mit muss nach
        nicht noch nun nur ob oder ohne schon sehr sein seine sich sie sind so soll sowie über um und uns unter
        vom von vor war waren was weil wenn werden wie wird wir wo wurde zu zum zur zwischen
    """,
    "es": """
        a al algo ante antes así aunque cada como con contra cual cuando de del desde donde dos el él ella ellas
        ellos en entre era eran es esa ese eso esta está están este esto estos fue ha hace han hasta hay la las le
        les lo los más me mi mientras muy nada ni no nos o otra otro para pero poco por porque que qué quien se
        según ser si sí sido sin sobre son su sus también tan te tiene todo todos tu un una unas uno unos y ya
    """,
    "fr": """
        à afin ai ainsi alors après au aucun aussi autre aux avant avec avoir c car ce cela ces cet cette ceux
        chaque comme contre d dans de des donc du elle elles en encore entre es est et été être eu fait fut il ils
        j je jusque l la le les leur leurs lors lui m ma mais me même mes moins mon n ne ni non nos notre nous on
        ont ou où par parce pas pendant peu plus pour qu quand que quel qui s sa sans se selon ses si son sont
        sous sur t ta tandis te tous tout très tu un une vers vous y
    """,
    "it": """
        a ad agli ai al alla alle allo anche ancora avere c che chi ci come con contro cosa così cui da dagli dai
        dal dalla dalle degli dei del della delle dello di dopo dove e è ed era erano essere fra gli ha hanno ho i
        il in io l la le lei li lo loro lui ma mentre mi molto ne nei nel nella nelle no noi non o ogni per perché
        più poi può prima qual quale quando quanto quella quello questa queste questi questo qui se senza si sia
        solo sono stata stato su sua sue sul sulla suo suoi tra tu tutti tutto un una uno
    """,
    "nl": """
        aan af al alle als ben bij daar dan dat de deze die dit doch door dus een en er ge geen had heb hebben
        heeft het hier hij hoe hun iets ik in is ja je kan kon kunnen maar me meer men met mij mijn moet na naar
        niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen tot u uit van veel voor want
        waren was wat we wel werd wie wij wil worden wordt zal ze zich zij zijn zo zonder zou
    """,
    "pt": """
        a à ao aos apenas as às até cada com como contra da das de dela dele depois do dos e é ela elas ele eles
        em entre era essa esse esta está estas este estes eu foi foram há isso isto já lhe mais mas me mesmo meu
        muito na não nas nem no nos nós num o onde os ou para pela pelas pelo pelos por porque qual quando que
        quem se sem ser seu seus sido só sobre sua suas também te tem tinha todo todos tu um uma você
    """,
}
_GLUE = {ENGLISH: FUNCTION_WORDS, **{language: frozenset(words.split()) for language, words in GLUE.items()}}


def list_glue(language: str | None) -> frozenset[str]:
    """The function words of a language; those of English for a language that has none here."""
    return _GLUE.get(language or ENGLISH, FUNCTION_WORDS)


def is_spaceless(clean: str, words: Sequence[str]) -> bool:
    """Is most of a text in a script that is read in pairs of letters?"""
    if clean.isascii():
        return False
    return len(SPACELESS.findall(clean)) > len(words) / 2


def find_language(clean: str) -> str | None:
    """The code of a text's language; None if unknown.

    >>> find_language("It is the pull of the Moon that raises the water of the sea."), find_language("Rugby.")
    ('en', None)
    >>> find_language("Der Mond zieht das Wasser der Meere an, und darum steigt es zweimal am Tag.")
    'de'
    """
    return tell_language(clean, find_words(clean))


def tell_language(clean: str, words: Sequence[str]) -> str | None:
    """The same of a text whose words are known."""
    if not is_spaceless(clean, words):
        if len(words) < LEAST_WORDS:
            return None
        if clean.isascii() and sum(word in FUNCTION_WORDS for word in words) >= ENGLISH_GLUE * len(words):
            return ENGLISH
    elif len(SPACELESS.findall(clean)) < LEAST_WORDS:
        return None
    language, sure = _load().classify(clean[:MAX_LETTERS])
    return str(language) if sure >= SURE else None


@cache
def _load() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier  # slow to load, and seldom needed

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(LANGUAGES)
    return identifier
