"""HumanEval and MBPP with their tests, which the sandbox runs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Generation, Model, Outcome, Sample, Scenario, SettingsError
from pytest_puma.evaluation.cell import Cell
from pytest_puma.evaluation.evaluate import evaluate
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.scores import own_scores
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.pool import ProgramPool
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.tested import HumanEvalRun, MbppRun
from pytest_puma.strategies import parse_strategy
from pytest_puma.testing import Engine, ScriptedBackend
from tests.factories import prediction, sample
from tests.scenarios.benchmarks.sample_requests import json_lines
from tests.scenarios.benchmarks.test_mbpp import row as mbpp

pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")

#: Own tasks: (beginning, body, tests).
OWN = [
    ("clamp(x, low, high)", "    return max(low, min(x, high))\n", "c(5, 0, 3) == 3 and c(-1, 0, 3) == 0"),
    ("digits(n)", "    return sum(int(c) for c in str(abs(n)))\n", "c(-123) == 6 and c(0) == 0"),
    ("runs_of(items)", "    return sum(a != b for a, b in zip(items, items[1:])) + 1\n", "c([1, 1, 2, 1]) == 3"),
    ("gcd(a, b)", "    while b:\n        a, b = b, a % b\n    return a\n", "c(12, 18) == 6 and c(7, 5) == 1"),
    ("rotate(text, k)", "    k %= len(text)\n    return text[k:] + text[:k]\n", "c('abcd', 1) == 'bcda'"),
    ("median(values)", "    return sorted(values)[len(values) // 2]\n", "c([3, 1, 2]) == 2 and c([5]) == 5"),
]
ROWS = [
    {
        "task_id": f"Own/{index}",
        "prompt": f'def {head}:\n    """Return what the name says."""\n',
        "entry_point": head.partition("(")[0],
        "canonical_solution": body,
        "test": f"def check(c):\n    assert {tests}\n",
    }
    for index, (head, body, tests) in enumerate(OWN)
]
#: An operator, and one that is wrong in its place.
FLIPS = {"+": "-", "-": "+", "<=": ">", ">=": "<", "<": ">=", ">": "<=", "==": "!=", "!=": "==", "%": "//", "and": "or"}
_OPERATOR = re.compile(r"<=|>=|==|!=|(?<=\s)(?:[-+<>%]|and)(?=\s)")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ProgramPool]:
    pool = ProgramPool("sandbox", 2)
    yield pool
    pool.close()


def run(scenario: Scenario, reply: Callable[[Sample], str], sandbox: ProgramPool, samples: int = 200) -> Outcome:
    """The outcome of a model that answers each sample by a function of it."""
    replies = {
        scenario.instruction(dict(sample.fields)): reply(sample)  # type: ignore[attr-defined]
        for sample in draw(scenario, samples, 42)
    }
    cell = Cell(
        scenario=scenario,
        strategy=parse_strategy("zero_shot"),
        model=Model(name="m", path=Path("m.gguf")),
        scores=tuple(metric for metric in own_scores(scenario, Registry()) if metric.asks),
        samples=samples,
        generation=Generation(max_tokens=4000),
    )
    model = ScriptedBackend(lambda prompt: next(text for question, text in replies.items() if question in prompt))
    return evaluate(cell, Engine(model), sandbox=sandbox)


def solution(sample: Sample) -> str:
    return f"```python\n{sample.fields['prompt']}{sample.fields['canonical_solution']}\n```"


def empty(sample: Sample) -> str:
    return f"```python\n{sample.fields['prompt']}    pass\n```"


def flipped(sample: Sample) -> str:
    """The solution with its last operator changed; without one, with nothing returned."""
    code = sample.fields["canonical_solution"]
    found = list(_OPERATOR.finditer(code))
    wrong = (
        f"{code[: found[-1].start()]}{FLIPS[found[-1][0]]}{code[found[-1].end() :]}"
        if found
        else code.replace("return", "return not")
    )
    return f"```python\n{sample.fields['prompt']}{wrong}\n```"


@pytest.mark.parametrize(("reply", "passed"), [(solution, 1.0), (empty, 0.0)])
def test_solutions_pass_and_empty_bodies_do_not(
    tmp_path: Path, sandbox: ProgramPool, reply: Callable[[Sample], str], passed: float
) -> None:
    outcome = run(HumanEvalRun(json_lines(tmp_path / "own.jsonl", ROWS)), reply, sandbox)
    assert (outcome["tests_passed"], outcome["timeout_rate"], outcome.primary) == (passed, 0, "tests_passed")


def test_an_endless_program_is_wrong_and_counted(tmp_path: Path, sandbox: ProgramPool) -> None:
    class Hurried(HumanEvalRun):
        def context(self, item: dict[str, Any]) -> Any:
            return {**super().context(item), "seconds": 1}

    def endless(sample: Sample) -> str:
        body = "    while True: pass\n" if sample.id == "Own/3" else sample.fields["canonical_solution"]
        return f"```python\n{sample.fields['prompt']}{body}\n```"

    outcome = run(Hurried(json_lines(tmp_path / "own.jsonl", ROWS)), endless, sandbox)
    assert [outcome["tests_passed"], outcome["timeout_rate"]] == pytest.approx([5 / 6, 1 / 6])


def test_the_tests_of_evalplus_are_in_the_same_column_and_may_import_numpy(
    tmp_path: Path, sandbox: ProgramPool
) -> None:
    test = (
        "import numpy as np\n\ndef check(c):\n    assert np.allclose(c(5, 0, 3), 3)\n    assert c(9, 1, 2) == WANTED\n"
    )
    for wanted in (2, 3):
        row = ROWS[0] | {"test": test.replace("WANTED", str(wanted))}
        outcome = run(HumanEvalRun(json_lines(tmp_path / f"{wanted}.jsonl", [row])), solution, sandbox)
        assert outcome["tests_passed"] == (wanted == 2), outcome.predictions[0].transcripts


@pytest.mark.parametrize(
    ("changes", "body", "passed"),
    [
        ({}, "return x + 11", 1),
        ({}, "return 12", 0),
        ({"test_setup_code": "import math"}, "return x + 11", 1),
        ({"test_list": ["assert add_11(1) == math.floor(12.5)"]}, "return x + 11", 0),
        (
            {"test_list": ["assert add_11(1) == math.floor(12.5)"], "test_setup_code": "import math"},
            "return x + 11",
            1,
        ),
        ({"test": "import numpy as np\nassert np.all(add_11(np.arange(3)) == [11, 12, 13])"}, "return x + 11", 1),
        ({"test": "assert add_11(5) == 17"}, "return x + 11", 0),
    ],
)
def test_mbpp_runs_its_tests_or_those_of_evalplus(
    tmp_path: Path, sandbox: ProgramPool, changes: dict[str, Any], body: str, passed: float
) -> None:
    scenario = MbppRun(json_lines(tmp_path / "mbpp.jsonl", [mbpp(11, **changes)]))
    outcome = run(scenario, lambda _: f"```python\ndef add_11(x):\n    {body}\n```", sandbox)
    assert outcome["tests_passed"] == passed


@pytest.mark.parametrize(
    ("text", "true"),
    [
        ("print(1 + 1 == 2)", 1),
        ("print('ok', True)", 1),
        ("print(True); print(1 == 2)", 0),
        ("import os; print(True, flush=True); os._exit(0)", 0),
        ("print(True)\nraise ValueError", 0),
        ("", 0),
    ],
)
def test_the_last_word_that_a_program_prints(sandbox: ProgramPool, text: str, true: float) -> None:
    asked = LIBRARY["prints_true"].score(sample("q"), prediction("q", reply=text))
    (ran,) = sandbox.run([next(asked)])
    with pytest.raises(StopIteration) as end:
        asked.send(ran)
    assert end.value.value == true


def test_the_primary_metric_is_no_member_of_the_family(tmp_path: Path) -> None:
    class Wrong(HumanEvalRun):
        scores = ("pass_at_1", "tests_passed")

    with pytest.raises(SettingsError, match=r"'pass_at_1' is the first of scores; expected it behind the metric that"):
        own_scores(Wrong(json_lines(tmp_path / "own.jsonl", ROWS)), Registry())


PUBLISHED = os.environ.get("PUMA_HUMANEVAL", "")


@pytest.mark.skipif(not PUBLISHED, reason="PUMA_HUMANEVAL=HumanEval.jsonl.gz is unset")
def test_the_published_solutions_pass_and_wrong_ones_do_not(sandbox: ProgramPool) -> None:
    scenario = HumanEvalRun(Path(PUBLISHED))
    assert _passed(run(scenario, solution, sandbox)) == 164
    assert _passed(run(scenario, empty, sandbox)) == 0
    assert _passed(run(scenario, flipped, sandbox)) < 0.05 * 164


def _passed(outcome: Outcome) -> int:
    assert len(outcome.predictions) == 164
    return sum(prediction.scores["tests_passed"] == 1 for prediction in outcome.predictions)
