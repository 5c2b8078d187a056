from __future__ import annotations

from functools import partial

from hypothesis import given
from hypothesis import strategies as st

from pytest_puma.datasets.order import content_id, plain_text, rank, rounds

GROUPS = st.dictionaries(st.sampled_from("abcd"), st.lists(st.integers(), max_size=6))


def test_the_rank_of_a_name_never_changes() -> None:
    # Baselines compare runs of different versions and machines on the same samples.
    assert rank(42, "LARK-1047") == 13433962809852647823


def test_names_are_distinguished_by_their_boundaries() -> None:
    assert rank(42, "ab", "c") != rank(42, "a", "bc")


def test_seeds_order_differently() -> None:
    names = [f"X-{number}" for number in range(50)]
    orders = {tuple(sorted(names, key=partial(rank, seed))) for seed in range(20)}
    assert len(orders) == 20


def test_the_content_names_a_row_whatever_its_columns_order_and_number_types() -> None:
    name = content_id({"text": "one", "points": 3, "note": None})
    assert content_id({"note": None, "points": 3.0, "text": "one"}) == name
    assert content_id({"text": "one", "points": 3, "note": None, "rationale": "because"}) == name
    assert content_id({"text": "one", "points": 5, "note": None}) != name
    assert len(name) == 12


def test_missing_values_are_empty_text_and_whole_numbers_have_no_fraction() -> None:
    assert [plain_text(value) for value in (None, 3.0, 0.5, 7, "x", True)] == ["", "3", "0.5", "7", "x", "True"]


@given(GROUPS)
def test_rounds_give_every_item_once_in_the_order_of_its_group(groups: dict[str, list[int]]) -> None:
    given_out = _labelled(groups)
    for label, items in groups.items():
        assert [item for owner, item in given_out if owner == label] == items
    assert len(given_out) == sum(map(len, groups.values()))


@given(GROUPS)
def test_no_group_is_a_round_ahead_of_one_that_still_has_items(groups: dict[str, list[int]]) -> None:
    taken = dict.fromkeys(groups, 0)
    for label, _ in _labelled(groups):
        taken[label] += 1
        assert all(taken[label] - taken[other] <= 1 or taken[other] == len(groups[other]) for other in groups)


def _labelled(groups: dict[str, list[int]]) -> list[tuple[str, int]]:
    tagged = {label: [(label, item) for item in items] for label, items in groups.items()}
    return list(rounds(tagged, lambda turn: sorted(tagged, reverse=turn % 2 == 0)))
