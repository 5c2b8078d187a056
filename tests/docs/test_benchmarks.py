"""docs/reference/benchmarks.md against the loaders, and its examples as a reader would run them."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_puma.core import Metric
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.scenarios.benchmarks import BENCHMARKS
from pytest_puma.strategies import parse_strategy
from tests.docs.reference import example, names_in, table
from tests.integration.conftest import INI, Project
from tests.scenarios.benchmarks.sample_requests import json_lines
from tests.scenarios.benchmarks.test_arc import original
from tests.scenarios.benchmarks.test_mmlu import DEV, LAW, LAW_DEV, TEST, write_csv

ROWS = {name: row for row in table("benchmark") for name in names_in(row[0])}


def test_the_table_has_each_benchmark() -> None:
    assert sorted(ROWS) == sorted(BENCHMARKS)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_row_has_the_strategies_and_scores_of_its_benchmark(name: str) -> None:
    _, files, strategies, scores = ROWS[name]
    scenario = BENCHMARKS[name]
    assert files
    assert tuple(names_in(strategies)) == scenario.strategies
    assert all(parse_strategy(strategy).name == strategy for strategy in scenario.strategies)
    score_names = [each.name if isinstance(each, Metric) else each for each in scenario.scores]
    assert names_in(scores) == score_names
    assert all(isinstance(each, Metric) or each in LIBRARY for each in scenario.scores)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_each_benchmark_says_what_to_get(name: str) -> None:
    obtain = BENCHMARKS[name]().obtain
    assert obtain.startswith("get ")
    for part in ("licence: ", "SHA-256 ", " from "):
        assert part in obtain


@pytest.fixture
def project(pytester: pytest.Pytester, gguf: Path) -> Project:
    pytester.makeini(INI)
    return Project(pytester, gguf, 0)


def test_the_examples_run(project: Project) -> None:
    folder = project.pytester.path
    texts = {"A": "trees", "B": "water", "C": "sand", "D": "caves", "E": "clouds"}
    json_lines(folder / "dev_rand_split.jsonl", [original(f"q{n}", f"Where is {n}?", "B", **texts) for n in range(8)])
    for subject, test, dev in (("anatomy", TEST, DEV), ("tax_law", LAW, LAW_DEV)):
        write_csv(folder / "data" / "test" / f"{subject}_test.csv", test)
        examples = [[f"{number}: {row[0]}", *row[1:]] for row in dev for number in range(5)]
        write_csv(folder / "data" / "dev" / f"{subject}_dev.csv", examples)
    for language, text in (("fr", "Qui juge ?"), ("de", "Wer urteilt?")):
        row = {"text": text, "a": "x", "b": "y", "c": "z", "answer": "B"}
        json_lines(folder / "law" / language / "test.jsonl", [row])
    for name in ("test_public.py", "test_variant.py", "test_law.py"):
        source = example("python", name=name)
        # A model of random weights meets no gate.
        for bound in (">= naive.guess + 0.05", "> 0.25", ">= 0.5"):
            source = source.replace(bound, ">= 0")
        (folder / name).write_text(source)
    result = project.run("--puma-data=csqa=dev_rand_split.jsonl", "--puma-data=mmlu=data")
    result.assert_outcomes(passed=5)
    assert sorted(project.cell_ids()) == [
        "csqa-cloze_scoring@tiny",
        "csqa-option_scoring@tiny",
        "csqa_unsure-option_scoring@tiny",
        "law-option_scoring@tiny",
        "mmlu-option_scoring_5@tiny",
    ]
