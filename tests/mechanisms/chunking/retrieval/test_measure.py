"""Retrieval over ranges of characters: against a count of characters one by one, and where it must not move."""

import math

from hypothesis import given
from hypothesis import strategies as st

from weighbeam.mechanisms.chunking.retrieval.borders import measure_borders
from weighbeam.mechanisms.chunking.retrieval.embed import split_windows
from weighbeam.mechanisms.chunking.retrieval.measure import (
    RankedChunking,
    fill_budget,
    measure_early,
    measure_ranges,
)

LENGTH = 60
span = st.tuples(st.integers(0, LENGTH - 1), st.integers(1, 20)).map(lambda pair: (pair[0], min(LENGTH, sum(pair))))
spans = st.lists(span, min_size=1, max_size=6)


def characters(given: list[tuple[int, int]]) -> set[int]:
    return {at for start, end in given for at in range(start, end)}


@given(spans, spans)
def test_figures_are_those_of_counting_characters(gold: list[tuple[int, int]], taken: list[tuple[int, int]]) -> None:
    hit, read = len(characters(gold) & characters(taken)), sum(end - start for start, end in taken)
    found = measure_ranges(gold, taken)
    assert found.recall == hit / len(characters(gold))
    assert found.precision == hit / read
    assert found.iou == hit / (read + len(characters(gold)) - hit)


@given(spans, spans, st.integers(1, 120))
def test_early_recall_is_the_mean_of_recall_over_budgets(
    gold: list[tuple[int, int]], places: list[tuple[int, int]], budget: int
) -> None:
    """A chunk is read whole: with less than its cost left, nothing of it is known."""
    order, costs = list(range(len(places))), [end - start for start, end in places]
    total = 0.0
    for room in range(budget):
        read = [number for number in order if sum(costs[: number + 1]) <= room]
        total += len(characters(gold) & characters([places[n] for n in read])) / len(characters(gold))
    assert math.isclose(measure_early(gold, order, places, costs, budget), total / budget, abs_tol=1e-9)


def test_thousands_of_crumbs_are_read_in_steps_as_many_as_they_are() -> None:
    """Fifty thousand of them: compared each with each they would take minutes."""
    size = 50_000
    places = [(2 * at, 2 * at + 1) for at in range(size)]
    gold = [(at, at + 100) for at in range(0, 2 * size, 2000)]
    order = sorted(range(size), key=lambda at: at * 7919 % size)
    found = sum(50 * len(gold) / size * (size - done) / size for done in range(1, size)) / (100 * len(gold))
    assert math.isclose(measure_early(gold, order, places, [1] * size, size), found, rel_tol=0.01)


@given(spans, st.integers(1, 200))
def test_a_budget_is_never_exceeded_and_only_the_last_chunk_is_cut(places: list[tuple[int, int]], budget: int) -> None:
    costs = [end - start for start, end in places]
    taken = fill_budget(range(len(places)), places, costs, budget)
    assert sum(end - start for start, end in taken) == min(budget, sum(costs))
    assert taken[:-1] == places[: len(taken) - 1]


def test_a_chunk_without_words_takes_no_place_in_a_ranking() -> None:
    with_blank = RankedChunking.rank([(0, 10), None, (10, 20)], [[1, 9, 5]])
    assert with_blank.rankings == [[2, 0]]
    assert with_blank.measure_first([[(10, 20)]], 1)[0].recall == 1.0


@given(st.text(max_size=4000))
def test_windows_hold_every_word_and_are_short(text: str) -> None:
    windows = split_windows(text, 200)
    assert "".join("".join(windows).split()) == "".join(text.split())
    longest = max((len(word.encode()) for word in text.split()), default=0)
    assert all(len(window.encode()) <= 200 + longest + 8 for window in windows)


def test_a_long_run_without_blanks_is_cut_all_the_same() -> None:
    assert [len(window) for window in split_windows("字" * 900, 768)] == [225] * 4


def test_more_cuts_than_borders_lower_f1_and_raise_window_diff() -> None:
    right = measure_borders([30], [(0, 30), (30, 60)], 60)
    many = measure_borders([30], [(0, 15), (15, 30), (30, 45), (45, 60)], 60)
    assert right.f1 == 1.0 > many.f1 == 0.5
    assert right.window_diff == 0.0 < many.window_diff
