"""The files that EvalPlus releases: inputs, and a solution that says what is right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError, Scenario
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.pool import ProgramPool
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.differential import arguments_of, check, example_arguments, same
from pytest_puma.scenarios.benchmarks.programs import HumanEval, Mbpp
from pytest_puma.scenarios.benchmarks.tested import HumanEvalRun, MbppRun
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_tested import run

confined = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")

FUNCTION = {
    "task_id": "HumanEval/900",
    "prompt": 'import math\n\n\ndef third(x):\n    """Return a third."""\n',
    "entry_point": "third",
    "canonical_solution": "    return x / 3 if math.isfinite(x) else None\n",
    "test": "def check(candidate):\n    assert candidate(3) == 1\n",
    "contract": "\n    assert isinstance(x, float) # $_CONTRACT_$\n",
    "base_input": [[3]],
    "plus_input": [[1], [-8]],
    "atol": 0,
}
TASK = {
    "task_id": "Mbpp/600",
    "prompt": '"""\nWrite a function to swap a pair.\nassert swap((1, 2)) == (2, 1)\n"""\n',
    "entry_point": "swap",
    "canonical_solution": "\ndef swap(pair):\n  return pair[::-1]\n",
    "assertion": "\nassert swap((1, 2)) == (2, 1)\n",
    "contract": "",
    "base_input": [[[1, 2]]],
    "plus_input": [[[3, 4]]],
    "atol": 0,
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ProgramPool]:
    pool = ProgramPool("sandbox", 2)
    yield pool
    pool.close()


def passed(scenario: Scenario, code: str, sandbox: ProgramPool) -> tuple[float, str]:
    """The score of a model that always answers with this code, and the end of the program's output."""
    outcome = run(scenario, lambda sample: f"```python\n{sample.fields.get('prompt', '')}{code}\n```", sandbox)
    return outcome["tests_passed"], outcome.predictions[0].transcripts["sandbox"].turns[0].response.text


@confined
@pytest.mark.parametrize(
    ("body", "score", "output"),
    [
        ("return x / 3", 1, ""),
        ("return x * 0.3333333333333", 1, ""),  # within the tolerance that floats always have
        ("return x // 3", 0, "third(1) returned 0, expected 0.333"),  # right on the original tests
        ("return", 0, "third(3) returned None, expected 1.0"),
    ],
)
def test_a_program_is_compared_with_the_solution_on_all_inputs(
    tmp_path: Path, sandbox: ProgramPool, body: str, score: float, output: str
) -> None:
    scenario = HumanEvalRun(json_lines(tmp_path / "plus.jsonl", [FUNCTION]))
    found, text = passed(scenario, f"    {body}", sandbox)
    assert found == score
    assert output in text


@confined
@pytest.mark.parametrize(
    ("body", "score"), [("a, b = pair; return b, a", 1), ("a, b = pair; return [b, a]", 0), ("return pair", 0)]
)
def test_the_examples_show_which_lists_are_tuples(
    tmp_path: Path, sandbox: ProgramPool, body: str, score: float
) -> None:
    scenario = MbppRun(json_lines(tmp_path / "plus.jsonl", [TASK]))
    assert passed(scenario, f"def swap(pair):\n    {body}", sandbox)[0] == score


@confined
def test_an_endless_program_ends_long_before_the_limit_of_all_inputs(tmp_path: Path, sandbox: ProgramPool) -> None:
    outcome = run(
        MbppRun(json_lines(tmp_path / "plus.jsonl", [TASK])),
        lambda _: "```python\ndef swap(pair):\n    while True: pass\n```",
        sandbox,
    )
    assert (outcome["tests_passed"], outcome["timeout_rate"]) == (0, 1)
    assert outcome.predictions[0].transcripts["sandbox"].turns[0].response.usage.seconds < 60


@confined
def test_a_program_that_defines_no_such_function_is_wrong(tmp_path: Path, sandbox: ProgramPool) -> None:
    found, text = passed(MbppRun(json_lines(tmp_path / "plus.jsonl", [TASK])), "x = 1", sandbox)
    assert found == 0
    assert "KeyError: 'swap'" in text


def test_a_task_of_mbpp_is_worded_as_that_of_the_original_file(tmp_path: Path) -> None:
    (request,) = sample_requests(Mbpp(json_lines(tmp_path / "plus.jsonl", [TASK])))
    task = "Write a Python function. Write a function to swap a pair.\nThese tests must pass:\n\n"
    assert f"{task}assert swap((1, 2)) == (2, 1)" in request.text
    assert request.golds == ("def swap(pair):\n  return pair[::-1]",)


def test_all_tasks_of_mbpp_plus_are_evaluated(tmp_path: Path) -> None:
    rows = [TASK | {"task_id": f"Mbpp/{number}"} for number in (2, 11, 809)]
    scenario = MbppRun(json_lines(tmp_path / "plus.jsonl", rows))
    assert sorted(sample.id for sample in draw(scenario, 9, 42)) == ["11", "2", "809"]


@pytest.mark.parametrize("scenario", [HumanEvalRun, MbppRun])
@pytest.mark.parametrize("column", ["plus_input", "base_input", "entry_point", "canonical_solution", "atol"])
def test_a_file_that_lacks_a_column_of_the_form_is_an_error_that_names_it(
    tmp_path: Path, scenario: type[HumanEvalRun | MbppRun], column: str
) -> None:
    row = FUNCTION if scenario is HumanEvalRun else TASK
    file = json_lines(tmp_path / "plus.jsonl", [{name: row[name] for name in row if name != column}])
    with pytest.raises(DataError, match=rf"plus.jsonl: row 1, column '{column}': missing or empty"):
        draw(scenario(file), 1, 42)


def test_without_the_option_the_file_is_read_too(tmp_path: Path) -> None:
    (request,) = sample_requests(HumanEval(json_lines(tmp_path / "plus.jsonl", [FUNCTION])))
    assert "def third(x):" in request.text


@pytest.mark.parametrize(
    ("example", "values", "arguments"),
    [
        ("f((1, 2), [3])", [[7], [8]], [(7,), [8]]),
        ("f([(1, 2), (3, 4)])", [[[5, 6]]], [[(5, 6)]]),
        ("f((1, [2], (3, 4)), 'a')", [[1, [2, 3], [4, 5]], "x"], [(1, [2, 3], (4, 5)), "x"]),
        ("f((10, None))", [[[1, 2], None]], [([1, 2], None)]),
        ("f((1, (2, (3, 4))))", [[1, [2, [3, [4]]]]], [(1, (2, (3, (4,))))]),
        ("f({'a': (1, 2)})", [{"b": [3, 4]}], [{"b": (3, 4)}]),
        ("f([{1, 2}])", [[[3], [4]]], [[{3}, {4}]]),
        ("f(0, 1j)", ["2", "3j"], [2 + 0j, 3j]),
        ("f([1], 2)", [["F", "J"], "J"], [["F", "J"], "J"]),
        ("f(1)", [[1, 2], 3], [[1, 2], 3]),
        ("", [[1, 2]], [[1, 2]]),
    ],
)
def test_inputs_have_the_types_of_the_example(example: str, values: list[Any], arguments: list[Any]) -> None:
    found = arguments_of(values, example_arguments(f"assert {example} == 0" if example else "", "f"))
    assert found == arguments
    assert list(map(type, found)) == list(map(type, arguments))


@pytest.mark.parametrize(
    ("found", "expected", "atol", "equal"),
    [
        (1, 1.0, 0, True),
        (0.1 + 0.2, 0.3, 0, True),
        (0.3001, 0.3, 0, False),
        (0.3001, 0.3, 1e-3, True),
        ([0.1 + 0.2, 1.0], [0.3, 1.0], 0, True),
        ([0.3, 1.0], (0.3, 1.0), 1e-3, False),
        ([0.3], [0.3, 1.0], 1e-3, False),
        ([[0.3001], 2], [[0.3], 2], 1e-3, True),
        (["a"], ["b"], 1e-3, False),
        ("a", "b", 0, False),
        (2, 3, 0, False),
    ],
)
def test_only_floats_have_a_tolerance_where_the_task_has_none(
    found: Any, expected: Any, atol: float, equal: int
) -> None:
    assert same(found, expected, atol) == equal


@pytest.mark.parametrize(
    ("name", "reference", "program", "right"),
    [
        ("find_zero", "lambda xs: -xs[0] / xs[1]", "lambda xs: 2.00001", True),
        ("find_zero", "lambda xs: -xs[0] / xs[1]", "lambda xs: 2.1", False),
        ("Diff", "lambda xs: [1, 2]", "lambda xs: [2, 1]", True),
        ("f", "lambda xs: [1, 2]", "lambda xs: [2, 1]", False),
        ("check_str", "lambda xs: __import__('re').match('a', 'a')", "lambda xs: True", True),
        ("check_str", "lambda xs: None", "lambda xs: False", True),
        ("check_str", "lambda xs: None", "lambda xs: 'no'", False),
        ("f", "lambda xs: len(xs)", "lambda xs: xs.clear() or 2", True),  # it changes its own copy
    ],
)
def test_results_that_are_not_unique(name: str, reference: str, program: str, right: int) -> None:
    tests = {"inputs": "[[[-4, 2]], [[-8, 4]]]", "examples": "", "atol": 1e-4 if name == "find_zero" else 0}
    function, gold = {name: eval(program)}, {name: eval(reference)}  # noqa: S307 - lambdas of this table
    if right:
        check(name, function, gold, tests)
    else:
        with pytest.raises(AssertionError, match=name):
            check(name, function, gold, tests)
