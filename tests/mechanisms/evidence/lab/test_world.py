"""The world of evidence: it observes as the mechanism does, its ranks follow skill, copying is closed."""

from dataclasses import replace
from statistics import fmean
from typing import Any

import pytest

from weighbeam.lab.attack.attack import TrialSetting
from weighbeam.lab.attack.catalogue import find_attacks
from weighbeam.lab.simulate.measure import kendall, measure
from weighbeam.lab.simulate.season import Season, play_season
from weighbeam.mechanism.records import Answer, Asked, Group, Task
from weighbeam.mechanisms.evidence.lab.pool import choose_best, format_snippet
from weighbeam.mechanisms.evidence.lab.saved_web import EDITION
from weighbeam.mechanisms.evidence.lab.season import AT_ONCE, enter
from weighbeam.mechanisms.evidence.lab.world import BEGIN, EDITIONS, EvidenceWorld
from weighbeam.mechanisms.evidence.miners.tricks import TRICKS
from weighbeam.mechanisms.inference.lab.world import InferenceWorld
from weighbeam.senses.local import LocalSenses

SHORT = Season(rounds=12)
TRICKY = ("parrot", "forger", "inventor", "stuffer", "unrelated", "empty", "invalid", "newborn", "insecure")


class Small(EvidenceWorld):
    """Knows three statements, so that a machine that has never seen them is not busy for long."""

    def list_tasks(self) -> list[Task]:
        return super().list_tasks()[:3]


@pytest.fixture(scope="module")
def world(senses: LocalSenses) -> Small:
    return Small({}, senses)


def drop_timings(facts: Any) -> Any:
    if isinstance(facts, dict):
        return {name: drop_timings(value) for name, value in facts.items() if name != "timings"}
    return [drop_timings(one) for one in facts] if isinstance(facts, list) else facts


def test_what_is_put_together_is_what_the_mechanism_observes(world: EvidenceWorld) -> None:
    """Otherwise a season would not run what pays."""
    task = world.list_tasks()[0]
    good = [format_snippet(find.passage, 1) for find in world.find(task)[:5]]
    answers = [Answer(trick, TRICKS[trick](task.body["statement"]), AT_ONCE) for trick in TRICKY]
    answers += [Answer("good", {"snippets": good}, 7.0), Answer("late", None, 120.0, "timeout")]
    asked = Asked(task, Group(tuple(one.hotkey for one in answers)), tuple(answers), "seed", at=300.0)
    real = world.mechanism.observe(world.params, replace(asked, at=BEGIN + 300.0), world.senses)
    seen = world.observe(asked)
    assert drop_timings(dict(seen.facts)) == drop_timings(dict(real.facts))
    assert world.mechanism.score(world.params, seen) == world.mechanism.score(world.params, real)
    signs = world.find_signs(seen, world.mechanism.score(world.params, seen))
    assert signs == {"parrot", "forger", "inventor", "stuffer", "newborn"}


def test_a_season_is_the_same_for_the_same_seed(world: EvidenceWorld) -> None:
    one, again = (play_season(world, None, 1, 3, Season(rounds=8)) for _ in range(2))
    assert one == again
    assert one != play_season(world, None, 1, 4, Season(rounds=8))


def test_ranks_follow_skill_and_few_honest_miners_look_like_copies(world: EvidenceWorld) -> None:
    seasons = [play_season(world, None, 1, seed, Season(rounds=96)) for seed in (7, 8)]
    assert fmean(map(kendall, seasons)) > 0.35
    for honest in seasons:
        best = [honest.earned[name] for name, skill in honest.skill.items() if skill > 0.75]
        worst = [honest.earned[name] for name, skill in honest.skill.items() if skill < 0.25]
        assert sum(best) > 3 * sum(worst)
        assert min(honest.turns.values()) >= 15
    accused = sum(len(signs) for honest in seasons for signs in honest.signs.values())
    assert accused < 0.03 * sum(sum(honest.turns.values()) for honest in seasons)


def test_an_edition_is_the_same_page_at_another_address(world: EvidenceWorld) -> None:
    url = world.find(world.list_tasks()[0])[0].passage.url
    page, edition = world.senses.pages.read_all([url, f"{url}{EDITION}{EDITIONS}"])
    assert edition.text_sha256 == page.text_sha256
    assert edition.hops[-1].url == f"{url}{EDITION}{EDITIONS}"
    assert world.senses.pages.read(f"https://nowhere.example/{EDITION}1").outcome == "unreachable"


def test_the_best_of_a_pool_are_worth_more_than_what_search_puts_first(world: EvidenceWorld) -> None:
    finds = world.find(world.list_tasks()[2])
    best = choose_best(finds, [find.worth for find in finds], 5)
    assert sum(find.worth for find in best) > sum(find.worth for find in finds[:5])


def test_attacks_on_evidence_earn_what_the_catalogue_says(world: EvidenceWorld) -> None:
    """The direction of one that is closed, and of one that pays since quotes are compared by their addresses."""
    setting = TrialSetting(lambda mechanism, params: world, season=SHORT)
    outcomes = {}
    for family in ("copycat", "near-duplicate"):
        attack = find_attacks([f"evidence/{family}"])[0]
        outcomes[family] = measure([attack.run(seed, setting) for seed in range(2)])
    assert outcomes["copycat"].verdict == "closed"
    assert outcomes["copycat"].detection.value == 1
    assert outcomes["near-duplicate"].profit.value > 10 * outcomes["copycat"].profit.value
    assert outcomes["near-duplicate"].detection.value == 0


def test_attacks_on_evidence_are_played_nowhere_else(senses: LocalSenses) -> None:
    with pytest.raises(TypeError, match="inference is not evidence"):
        enter(InferenceWorld({}, senses))
