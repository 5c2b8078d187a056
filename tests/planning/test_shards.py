"""The parts of a run: every cell is in one of them, and all machines agree on which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from pytest_puma.core import Metric
from pytest_puma.errors import SettingsError
from pytest_puma.evaluation import conversations
from pytest_puma.evaluation.cell import Cell
from pytest_puma.planning.shards import WHOLE, Shard
from tests.factories import cell, model


def _cells() -> list[Cell]:
    """Three strategies on two models, as pytest collects them: by test, then by strategy, then by model."""
    return [
        replace(cell(strategy=strategy), model=model(name))
        for strategy in ("zero_shot", "few_shot_3", "option_scoring")
        for name in ("a", "b", "a+polite-1")
    ]


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 40])
def test_each_cell_is_in_one_part(parts: int) -> None:
    cells = _cells()
    selected = [Shard(number, parts).select(cells) for number in range(1, parts + 1)]
    assert sorted(name for part in selected for name in part) == sorted(cell.id for cell in cells)


def test_a_variant_is_in_the_part_of_its_plain_cell_and_a_part_has_few_models() -> None:
    cells = _cells()
    one, two = (Shard(number, 2).select(cells) for number in (1, 2))
    assert {name.replace("+polite-1", "") for name in one} & {name.replace("+polite-1", "") for name in two} == set()
    assert {name.partition("@")[2] for name in one} == {"a", "a+polite-1"}


def test_parts_are_of_about_the_same_work() -> None:
    samples = {"zero_shot": 10, "one_shot": 1000, "few_shot_3": 10, "option_scoring": 1000}
    cells = [cell(strategy=strategy, samples=number) for strategy, number in samples.items()]
    assert [len(Shard(number, 2).select(cells)) for number in (1, 2)] == [2, 2]


@pytest.mark.parametrize("parts", [1, 2, 3, 7, 40])
def test_a_large_cell_is_cut_into_blocks(parts: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "MAX_CONCURRENT", 7)
    cells = [cell(strategy=strategy, samples=samples) for strategy, samples in (("egi", 30), ("zero_shot", 7))]
    selected = [Shard(number, parts).select(cells) for number in range(1, parts + 1)]
    stretches = [part[cells[0].id] for part in selected if cells[0].id in part]
    assert [index for stretch in stretches for index in range(30)[stretch]] == [*range(30)]
    assert all(stretch.start % 7 == 0 for stretch in stretches)
    assert len(stretches) == min(parts, 5) or parts in {3, 7}
    assert [part[cells[1].id] for part in selected if cells[1].id in part] == [WHOLE]


def _asking(*_: object) -> Iterator[object]:
    yield None


@pytest.mark.parametrize(
    "metric",
    [
        None,
        Metric(name="m", score=_asking),
        Metric(name="m", score=_asking, needs=frozenset({"sandbox"})),
        Metric(name="m", score=lambda *_: 1, source="distributions"),
    ],
    ids=["looks", "judge", "sandbox", "distance"],
)
def test_a_cell_is_whole_if_it_ends_early_or_its_answers_are_needed_together(
    metric: Metric | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "MAX_CONCURRENT", 7)
    large = cell(samples=30, scores=(metric,) if metric else ())
    parts = [Shard(number, 3).select([large], looks=metric is None) for number in (1, 2, 3)]
    assert [*filter(None, parts)] == [{large.id: WHOLE}]


@pytest.mark.parametrize("text", ["0/4", "5/4", "2", "2/", "a/b", "-1/4", "2/4/6", ""])
def test_what_is_no_part_is_an_error(text: str) -> None:
    with pytest.raises(SettingsError, match="expected I/N with I from 1 to N, such as 2/4"):
        Shard.parse(text)


def test_a_part_is_written_as_a_fraction() -> None:
    assert Shard.parse("2/4") == Shard(2, 4)
