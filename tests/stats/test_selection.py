"""The best of several systems, against simulated ones with a known true value."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from pytest_puma.stats.selection import Selected, select


def systems(truths: Sequence[float], *, samples: int, seed: int) -> tuple[list[float], list[list[float]]]:
    """The accuracy of each system on the same samples, and in the same resamples."""
    random = np.random.default_rng(seed)
    hard = random.random(samples)
    luck = np.where(random.random((len(truths), samples)) < 0.5, hard, random.random((len(truths), samples)))
    right = 1.0 * (luck < np.array(truths)[:, None])
    weights = random.multinomial(samples, np.full(samples, 1 / samples), size=400) / samples
    return right.mean(axis=1).tolist(), (right @ weights.T).tolist()


@pytest.mark.parametrize("greatest", [True, False])
def test_the_best_of_equally_good_systems_is_no_better_than_they_are(greatest: bool) -> None:  # noqa: FBT001
    simulated = [systems([0.55] * 12, samples=50, seed=seed) for seed in range(200)]
    selected = [select(*each, greatest=greatest) for each in simulated]
    extreme = max if greatest else min

    assert abs(np.mean([extreme(values) for values, _ in simulated]) - 0.55) > 0.07
    assert np.mean([each.value for each in selected]) == pytest.approx(0.55, abs=0.02)


def test_a_clear_winner_keeps_its_value() -> None:
    values, resampled = systems([0.3, 0.3, 0.9], samples=100, seed=1)
    selected = select(values, resampled, greatest=True)

    assert selected.place == 2
    assert selected.value == pytest.approx(values[2])


def test_the_wider_interval_covers_the_true_value_of_any_chosen_system() -> None:
    covered = 0
    for seed in range(200):
        values, resampled = systems([0.55] * 6, samples=100, seed=seed)
        selected = select(values, resampled, greatest=True)
        reach = 1.96 * selected.wider * float(np.std(resampled[selected.place]))
        covered += abs(values[selected.place] - 0.55) <= reach

    assert covered / 200 >= 0.92


def test_one_system_is_no_choice() -> None:
    assert select([0.4], [[0.3, 0.5]], greatest=True) == Selected(0, 0.4, 0.4, 1.0)


def test_resamples_that_measure_nothing_are_ignored() -> None:
    selected = select([0.4, 0.6], [[np.nan, 0.3, 0.5], [0.5, 0.5, 0.7]], greatest=False)

    assert selected.place == 0
    assert 0.4 <= selected.value <= 0.6


@pytest.mark.parametrize(("values", "lowest", "greatest"), [((0.6,) * 20, 0.6, 0.6), ((0.4, 0.8) * 10, 0.6, 0.6)])
def test_few_samples_never_put_the_lowest_above_the_mean_or_the_greatest_below(
    values: Sequence[float], lowest: float, greatest: float
) -> None:
    weights = np.random.default_rng(1).multinomial(5, [0.2] * 5, size=(len(values), 400)) / 5
    rights = [np.arange(5) < round(5 * value) for value in values]
    resampled = [(own @ right).tolist() for own, right in zip(weights, rights, strict=True)]
    least = select(values, resampled, greatest=False, bounds=(0, 1))
    most = select(values, resampled, greatest=True, bounds=(0, 1))

    assert [least.value, most.value] == pytest.approx([lowest, greatest])
    for selected in (least, most):
        low, high = selected.interval(selected.observed - 0.3, selected.observed + 0.3)
        assert 0 <= low <= selected.value <= high <= 1


def test_the_interval_of_an_error_has_no_negative_end() -> None:
    selected = select([2.0, 2.2], [[1.0, 3.0, 2.0], [2.0, 1.2, 3.4]], greatest=False)
    assert selected.interval(-0.1, 9.0)[0] == 0
