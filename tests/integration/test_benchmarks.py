"""Public benchmarks by name: the files come by `--puma-data`, and nothing else is needed."""

from __future__ import annotations

import pytest

from tests.integration.conftest import ONE_PROCESS, Project
from tests.scenarios.benchmarks.sample_requests import json_lines
from tests.scenarios.benchmarks.test_arc import original
from tests.scenarios.benchmarks.test_bbh import FRUIT, write
from tests.scenarios.benchmarks.test_gsm8k import TEST as PEARS
from tests.scenarios.benchmarks.test_gsm8k import TRAIN as HENS
from tests.scenarios.benchmarks.test_humaneval import ROWS as FUNCTIONS
from tests.scenarios.benchmarks.test_mmlu import DEV, TEST, write_csv
from tests.scenarios.benchmarks.test_mt_bench import COUNT
from tests.scenarios.benchmarks.test_winogrande import ROWS as SENTENCES

#: Benchmark -> other arguments of its marker, and gates that the right answers meet.
BENCHMARKS = {
    "mmlu": ('strategies=["option_scoring_1", "zero_shot"]', ["accuracy[subject=sums] >= 1"]),
    "winogrande": ("samples=2", ["accuracy >= 1"]),
    "gsm8k": ('strategies=["few_shot_1"]', ["number_match >= 1"]),
    "humaneval": ("samples=2", ["defines_function >= 1", "bits_per_byte <= 0.001"]),
    "bbh": ('strategies=["one_shot"], samples=1', ["exact_match[task=fruit] >= 1"]),
    "mt_bench": ("samples=1", ["repetition <= 0"]),
}

#: Knows all answers.
KNOWING = """
import re
from pytest_puma.testing import ScriptedBackend

ANSWERS = {
    "even?": "Answer: B", "odd?": "Answer: D", "rug and": "cup broke.", "Eve because": "Eve had helped.",
    "Add two": '```python\\ndef add(a, b):\\n    \\"\\"\\"Add two numbers.\\"\\"\\"\\n    return a + b',
    "Return 1": '```python\\ndef one():\\n    \\"\\"\\"Return 1.\\"\\"\\"\\n    return 1',
    "fruit?": "A: (A)", "tree?": "A: the answer is (B).", "pears": "Answer: 3 * 4 = 12\\\\n#### 12",
    "2 + 2": "It is 4.",
}

def pytest_puma_backend(model):
    return ScriptedBackend(ANSWERS)
"""


def options(project: Project) -> list[str]:
    """Files of all benchmarks, and their options."""
    path = project.pytester.path / "sets"
    write_csv(path / "mmlu" / "test" / "sums_test.csv", TEST)
    write_csv(path / "mmlu" / "dev" / "sums_dev.csv", DEV)
    json_lines(path / "dev.jsonl", SENTENCES)
    json_lines(path / "gsm8k" / "test.jsonl", [PEARS])
    json_lines(path / "gsm8k" / "train.jsonl", [HENS])
    json_lines(path / "HumanEval.jsonl", FUNCTIONS)
    write(path / "fruit.json", FRUIT)
    json_lines(path / "question.jsonl", [COUNT])
    files = {
        "mmlu": "mmlu",
        "winogrande": "dev.jsonl",
        "gsm8k": "gsm8k",
        "humaneval": "HumanEval.jsonl",
        "bbh": "fruit.json",
        "mt_bench": "question.jsonl",
    }
    return [f"--puma-data={name}=sets/{file}" for name, file in files.items()]


def markers(*names: str, gated: bool = True) -> str:
    """A test of each benchmark."""
    lines = ["import pytest"]
    for name in names:
        arguments, gates = BENCHMARKS[name]
        lines.append(f'@pytest.mark.puma("{name}", {arguments}, gates={gates if gated else []})')
        lines.append(f"def test_{name}(puma):\n    pass\n")
    return "\n".join(lines)


@ONE_PROCESS
def test_a_model_that_knows_the_answers_meets_the_gates(project: Project) -> None:
    arguments = options(project)
    project.write(conftest=KNOWING, test_public=markers(*BENCHMARKS))
    result = project.run(*arguments)
    result.assert_outcomes(passed=7)
    assert sorted(project.cell_ids()) == [
        "bbh-one_shot@tiny",
        "gsm8k-one_shot@tiny",
        "humaneval-zero_shot@tiny",
        "mmlu-option_scoring_1@tiny",
        "mmlu-zero_shot@tiny",
        "mt_bench-zero_shot@tiny",
        "winogrande-cloze_scoring@tiny",
    ]


def test_a_real_engine_runs_them(project: Project) -> None:
    arguments = options(project)
    project.write(test_public=markers(*BENCHMARKS, gated=False))
    project.run(*arguments, "--puma-max-tokens=8").assert_outcomes(passed=7)
    (record,) = [each for each in project.record()["outcomes"] if each["scenario"] == "winogrande"]
    assert record["measures"]["accuracy"]["n"] == 2


def test_the_digest_of_the_files_is_recorded(alone: Project) -> None:
    arguments = options(alone)
    alone.write(conftest=KNOWING, test_public=markers("mmlu"))
    alone.run(*arguments).assert_outcomes(passed=2)
    (data,) = {str(each["signature"]["data"]) for each in alone.record()["outcomes"]}
    assert "sets/mmlu/test" in data
    assert len(data.rpartition("'sha256': '")[2].rstrip("'}")) == 64


def test_without_data_collection_says_what_to_get(alone: Project) -> None:
    alone.write(test_public=markers("humaneval"))
    result = alone.run()
    assert result.ret == 2
    fault = (
        "puma: test_public.py::test_humaneval: scenario 'humaneval' has no data of its own: get HumanEval.jsonl.gz, "
        "44,877 bytes: 164 problems (licence: MIT; SHA-256 b796127e*) from hf:openai/openai_humaneval@REVISION "
        "(REVISION: a commit of the hub) or data/ of https://github.com/openai/human-eval; then run with "
        "--puma-data humaneval=PATH"
    )
    result.stdout.fnmatch_lines([fault])


@pytest.mark.parametrize("strategy", ["few_shot_2", "option_scoring_2"])
def test_an_example_that_is_evaluated_is_left_out(alone: Project, strategy: str) -> None:
    """Published splits overlap in places, which no user can correct."""
    folder = alone.pytester.path / "sets"
    shared = original("T_1", "What melts?", "B", A="stone", B="ice")
    json_lines(folder / "ARC-Easy-Test.jsonl", [shared])
    others = [original(f"E_{n}", f"What is {n}?", "A", A="cork", B="iron") for n in (1, 2)]
    json_lines(folder / "ARC-Easy-Train.jsonl", [shared | {"id": "E_9"}, *others])
    marker = f"@pytest.mark.puma('arc_easy', strategies=['{strategy}'])"
    alone.write(conftest=KNOWING, test_public=f"import pytest\n{marker}\ndef test_arc(puma):\n    pass\n")
    alone.run("--puma-data=arc_easy=sets").assert_outcomes(passed=1)
