"""MultiPL-E: functions in other languages than Python, with real compilers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import DataError, NotRunError, Program
from pytest_puma.evaluation.programs import check_languages
from pytest_puma.sandbox import tools
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.pool import ProgramPool
from pytest_puma.scenarios import draw
from pytest_puma.scenarios.benchmarks.languages import MultiPlE, body
from tests.sandbox import foreign
from tests.scenarios.benchmarks.sample_requests import json_lines, sample_requests
from tests.scenarios.benchmarks.test_tested import run

#: As MultiPL-E has them.
STOPS = {
    "cpp": ["\n}"],
    "java": ["\n    }\n"],
    "js": ["\nfunction ", "\n/*", "\n//", "\nconsole.log"],
    "php": ["\nfunction", "\n?>", "\n//", "\n#"],
    "pl": ["\nsub", "\n#", "\n\n"],
    "rs": ["\n}"],
    "sh": ["\n}"],
}


def row(language: str, **changes: str) -> dict[str, Any]:
    fields = {
        "name": f"HumanEval_900_twice_{language}",
        "language": language,
        "prompt": foreign.BEGINNINGS[language],
        "doctests": "transform",
        "original": "/home/somebody/HumanEval_900_twice.py",
        "prompt_terminology": "reworded",
        "tests": foreign.TESTS[language],
        "stop_tokens": STOPS[language],
    }
    return fields | changes


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ProgramPool]:
    if not landlock_version():
        pytest.skip("this kernel has no Landlock")
    pool = ProgramPool("sandbox", 2)
    yield pool
    pool.close()


@pytest.mark.parametrize("language", STOPS)
def test_a_completed_function_is_run_with_its_tests(tmp_path: Path, sandbox: ProgramPool, language: str) -> None:
    try:
        tools.instructions(Program(text="", language=language))
    except NotRunError as error:
        pytest.skip(str(error))
    scenario = MultiPlE(json_lines(tmp_path / "rows.jsonl", [row(language)]))
    for bodies, passed in ((foreign.RIGHT, 1), (foreign.WRONG, 0)):
        reply = f"```{language}\n{foreign.BEGINNINGS[language]}{bodies[language]}"
        outcome = run(scenario, lambda _, reply=reply: reply, sandbox)  # type: ignore[misc]
        turn = outcome.predictions[0].transcripts["sandbox"].turns[0]
        assert outcome["tests_passed"] == passed, turn
        assert outcome.primary == "tests_passed"
        assert list(outcome.execution.signature["sandbox"]["languages"]) == [language]


def test_prompts_in_a_chat_and_in_plain_text(tmp_path: Path) -> None:
    file = json_lines(tmp_path / "rows.jsonl", [row("js")])
    (chat,), (plain,) = sample_requests(MultiPlE(file)), sample_requests(MultiPlE(file), chat=False)
    task = "Complete this function in JavaScript. Write code only.\n\nfunction twice(x){"
    assert chat.text == f"user: {task}\nassistant: ```js\nfunction twice(x){{"
    assert plain.text == "function twice(x){"


BEGINNING = "// Double.\nlong twice(long x) {\n"


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        ("    return 2 * x;\n}", "    return 2 * x;"),
        ("    return 2 * x;\n}\n```\nIt doubles.", "    return 2 * x;"),
        ("    if (x) {\n    }\n    return x;\n}\n\nint main() {}", "    if (x) {\n    }\n    return x;"),
        ("Here it is:\n```cpp\nlong twice(long x) {\n    return 2 * x;\n}\n```\n", "    return 2 * x;"),
        ("```\n    return 2 * x;\n}\n```", "    return 2 * x;"),
        ("```cpp\n#include <vector>\nlong twice(long x) {\n    return 2 * x;\n}", "    return 2 * x;"),
        ("return 2 * x;", "return 2 * x;"),
    ],
)
def test_the_lines_that_continue_the_beginning(reply: str, lines: str) -> None:
    assert body(BEGINNING, reply, ("\n}",)) == lines


def test_a_reply_ends_at_the_stops_of_its_row(tmp_path: Path) -> None:
    scenario = MultiPlE(json_lines(tmp_path / "rows.jsonl", [row("sh"), row("js")]))
    stops = {sample.fields["language"]: scenario.stops(dict(sample.fields)) for sample in draw(scenario, 2, 42)}
    assert stops == {"sh": ("\n```", "\n}"), "js": ("\n```", *STOPS["js"])}


def test_a_library_that_is_not_installed_is_no_wrong_answer(tmp_path: Path, sandbox: ProgramPool) -> None:
    rows = [row("pl", tests=f"use Test::Nowhere;\n\n{foreign.TESTS['pl']}")]
    samples = draw(MultiPlE(json_lines(tmp_path / "rows.jsonl", rows)), 1, 42)
    with pytest.raises(NotRunError, match=r"m: the sandbox cannot run an empty program with the imports of .*Nowhere"):
        check_languages("m", samples, sandbox)


def test_imports_that_are_there_and_programs_in_python_are_no_hindrance(tmp_path: Path, sandbox: ProgramPool) -> None:
    rows = [row("pl", tests=f"use List::Util;\n\n{foreign.TESTS['pl']}"), row("sh")]
    check_languages("m", draw(MultiPlE(json_lines(tmp_path / "rows.jsonl", rows)), 2, 42), sandbox)


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"language": "rkt"}, r"row 1, column 'language': found 'rkt' \(str\), expected one of cpp, java, js"),
        ({"tests": ""}, "row 1, column 'tests'"),
        ({"stop_tokens": None}, "row 1, column 'stop_tokens': missing"),
    ],
)
def test_faults_of_rows_are_named(tmp_path: Path, changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(DataError, match=fault):
        _ = MultiPlE(json_lines(tmp_path / "rows.jsonl", [row("js") | changes])).rows
