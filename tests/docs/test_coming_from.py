"""docs/coming-from.md against the code: metrics, classes, and the example of the adapter."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_puma.compat.eval_framework import BaseTask
from pytest_puma.compat.eval_framework.metrics import CLASSES
from pytest_puma.judges import JUDGED
from pytest_puma.metrics import metric_names
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.scenarios import BUILTIN
from pytest_puma.scenarios.benchmarks import BENCHMARKS
from pytest_puma.strategies import parse_strategy
from tests.compat.geography import write_splits
from tests.docs.reference import ROOT, names_in
from tests.integration.conftest import Project

ANSWERS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({"Italy": "A: Rome", "Japan": "A: Tokyo"}, default="A: Atlantis")
"""
PAGE = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8")


def rows(heading: str, *, after: str) -> list[list[str]]:
    """The rows of the first table with this first column behind a heading."""
    lines = PAGE.partition(f"\n## {after}\n")[2].splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith(f"| {heading} |")) + 2
    table = lines[start:]
    end = next((at for at, line in enumerate(table) if not line.startswith("|")), len(table))
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[:end]]


def test_each_metric_class_of_eval_framework_has_a_row_with_its_metrics() -> None:
    documented = {
        names_in(first)[0]: tuple(names_in(second)) for first, second in rows("metric class", after="eval-framework")
    }
    assert documented == CLASSES


@pytest.mark.parametrize("system", ["lm-evaluation-harness", "AISteer360"])
def test_a_metric_that_a_table_names_exists(system: str) -> None:
    metrics = {*LIBRARY, *JUDGED, *(name for scenario in BUILTIN.values() for name in metric_names(scenario()))}
    metric_rows = rows("metric", after=system)
    assert metric_rows
    for row in metric_rows:
        named = [name for name in names_in(row[1]) if name not in {"cloze_scoring", "option_scoring", ".loose"}]
        assert set(named) <= metrics, row


def test_a_task_has_a_benchmark_of_this_name_here() -> None:
    named = {name for row in rows("task of eval-framework", after="eval-framework") for name in names_in(row[1])}
    others = named - set(BENCHMARKS) - set(LIBRARY)
    assert {parse_strategy(name).name for name in others} == others
    assert {"mmlu_pro", "gpqa", "math", "drop", "global_mmlu"} <= named


def test_each_attribute_and_method_of_a_task_has_a_row() -> None:
    named = {name for row in rows("attribute or method", after="eval-framework") for name in names_in(row[0])}
    own = {name for base in BaseTask.__mro__ for name in vars(base) if base.__module__.startswith("pytest_puma.compat")}
    upper = {name for name in own if name.isupper()}
    methods = {name for name in own if re.match("_(get|sample|create)_", name)} - {"_get_messages"}
    assert named >= upper | methods | {"post_process_generated_completion"}


def test_the_example_of_the_adapter_runs_beside_its_data(pytester: pytest.Pytester, gguf: Path) -> None:
    (source,) = re.findall(r"^```python\n# test_geography\.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    pytester.makeini("[pytest]\npuma_naive_baselines = false\n")
    write_splits(pytester.path / "geography")
    project = Project(pytester, gguf, 0)
    project.write(test_geography=source, conftest=ANSWERS)
    result = project.run("-Werror")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["geography_qa, few_shot_3, tiny*", "*exact_match *0.167*", "*exact_match?mean subject? *0.167*FAIL*"]
    )


def test_the_example_of_a_use_case_runs_beside_its_data(pytester: pytest.Pytester, gguf: Path) -> None:
    (source,) = re.findall(r"^```python\n# test_quiz\.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    pytester.makeini("[pytest]\npuma_naive_baselines = false\n")
    rows = [{"id": number, "question": f"{number}?", "answer": "b", "choices": ["a", "b", "c"]} for number in range(4)]
    (pytester.path / "quiz.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    project = Project(pytester, gguf, 0)
    answer = 'lambda prompt: next(line[0] for line in prompt.splitlines() if line[1:] == ". b")'
    backend = "from pytest_puma.testing import ScriptedBackend\n\ndef pytest_puma_backend(model):\n"
    project.write(test_quiz=source, conftest=f"{backend}    return ScriptedBackend({answer})\n")
    result = project.run("-Werror")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*MCQAAccuracy.question_mean * 1* PASS*", "*MCQAPositionalBias.mean *PASS*"])
