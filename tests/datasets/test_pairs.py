from __future__ import annotations

from itertools import combinations, islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.datasets.order import draw_pairs, place_gold

LABELS = st.dictionaries(st.integers(0, 99).map(lambda number: f"X-{number}"), st.sampled_from("pqrs"), max_size=12)
FOUR_CLASSES = {f"X-{number}": "pqrs"[number % 4] for number in range(200)}


@given(LABELS, st.integers(0, 9))
def test_all_pairs_of_different_labels_come_once_and_no_others(labels: dict[str, str], seed: int) -> None:
    samples = [frozenset(pair) for pair in draw_pairs(labels, seed)]
    wanted = {frozenset(pair) for pair in combinations(labels, 2) if labels[pair[0]] != labels[pair[1]]}
    assert len(samples) == len(set(samples))
    assert set(samples) == wanted


@given(LABELS, st.integers(0, 9))
def test_pairs_are_disjoint_while_the_keys_last(labels: dict[str, str], seed: int) -> None:
    largest = max((list(labels.values()).count(label) for label in labels.values()), default=0)
    possible = min(len(labels) // 2, len(labels) - largest)
    first = list(islice(draw_pairs(labels, seed), possible))
    keys = [key for pair in first for key in pair]
    assert len(first) == possible
    assert len(keys) == len(set(keys))


@given(LABELS, st.integers(0, 9))
def test_the_order_of_the_keys_does_not_matter(labels: dict[str, str], seed: int) -> None:
    turned = dict(reversed(labels.items()))
    assert list(draw_pairs(labels, seed)) == list(draw_pairs(turned, seed))


def test_two_hundred_issues_of_four_classes_make_a_hundred_disjoint_pairs() -> None:
    first = list(islice(draw_pairs(FOUR_CLASSES, 42), 100))
    assert {key for pair in first for key in pair} == set(FOUR_CLASSES)


@pytest.mark.parametrize("seed", range(5))
def test_pairs_of_all_distances_between_classes_are_drawn(seed: int) -> None:
    distances = [
        abs("pqrs".index(FOUR_CLASSES[a]) - "pqrs".index(FOUR_CLASSES[b]))
        for a, b in islice(draw_pairs(FOUR_CLASSES, seed), 50)
    ]
    assert {1, 2, 3} == set(distances)
    assert min(distances.count(distance) for distance in (1, 2, 3)) >= 3


def test_seeds_draw_different_pairs() -> None:
    assert len({tuple(islice(draw_pairs(FOUR_CLASSES, seed), 5)) for seed in range(10)}) == 10


@given(LABELS, st.integers(0, 9))
def test_the_better_one_is_a_as_often_as_b_at_every_length(labels: dict[str, str], seed: int) -> None:
    ranks = {key: "pqrs".index(label) for key, label in labels.items()}
    balance = 0
    for a, b in place_gold(draw_pairs(labels, seed), ranks=ranks, seed=seed):
        balance += 1 if ranks[a] < ranks[b] else -1
        assert abs(balance) <= 1


def test_the_better_one_does_not_simply_alternate() -> None:
    ranks = {key: "pqrs".index(label) for key, label in FOUR_CLASSES.items()}
    placed = islice(place_gold(draw_pairs(FOUR_CLASSES, 42), ranks=ranks, seed=42), 40)
    gold = "".join("A" if ranks[a] < ranks[b] else "B" for a, b in placed)
    assert gold not in {"AB" * 20, "BA" * 20}


@given(LABELS, st.integers(0, 9))
def test_placing_changes_no_pair(labels: dict[str, str], seed: int) -> None:
    ranks = {key: "pqrs".index(label) for key, label in labels.items()}
    pairs = list(draw_pairs(labels, seed))
    assert [set(pair) for pair in place_gold(pairs, ranks=ranks, seed=seed)] == [set(pair) for pair in pairs]
