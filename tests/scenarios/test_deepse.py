"""Real exports, written by nobody here: nulls, 20,000-character descriptions, doubled quotes, 100-point items."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import DataError
from pytest_puma.scenarios import EstimationTawosScenario, TriageJiraScenario, draw, example_rows

FILES = sorted(Path(__file__).parents[3].glob("shared/data/deepse_*.csv"))
pytestmark = pytest.mark.skipif(not FILES, reason="the real data lie outside the repository")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_every_row_loads(file: Path) -> None:
    scenario = EstimationTawosScenario(file)
    samples = draw(scenario, 10**6, 42)
    assert len(samples) == len(scenario.rows) > 400
    assert all(float(sample.gold) > 0 and isinstance(sample.fields["description"], str) for sample in samples)
    assert not {"NULL", "nan"} & {sample.fields["description"] for sample in samples}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_rows_that_are_not_evaluated_serve_as_examples(file: Path) -> None:
    scenario = EstimationTawosScenario(file)
    evaluated = {sample.id for sample in draw(scenario, 200, 42)}
    examples = example_rows(scenario, 8, 42, evaluated)
    assert len(examples) == 8
    assert not {example["item_id"] for example in examples} & evaluated


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_as_issues_they_lack_a_priority(file: Path) -> None:
    with pytest.raises(DataError, match=r"deepse_\w+\.csv: no column 'priority'"):
        draw(TriageJiraScenario(file), 10, 42)
