"""The classes of eval-framework that run programs, by the arguments of its contexts, in the real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.compat.eval_framework import Language
from pytest_puma.core import DataError, Prediction, Ran
from pytest_puma.metrics.library import LIBRARY
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.pool import ProgramPool
from pytest_puma.scenarios import draw
from tests.compat.tasks import Capitals
from tests.factories import prediction
from tests.sandbox import foreign

pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")

UNITTEST = """
import unittest

class TestCases(unittest.TestCase):
    def test_twice(self):
        self.assertEqual(twice(4), 8)

if __name__ == "__main__":
    unittest.main()
"""
BIG_CODE_BENCH = {
    "run_env": "python:3.12",
    "code_prompt": "def twice(x):",
    "test_code": UNITTEST,
    "benchmark_timeout": 60,
    # A pickle: it is not loaded.
    "snippet_merge_fn": "gASVFgAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOULg==",
    "output_parse_fn": "gASVFgAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOULg==",
    "package_downloads": {"numpy": "numpy==1.21.2"},
}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[ProgramPool]:
    pool = ProgramPool("sandbox", 2)
    yield pool
    pool.close()


def sample_of(folder: Path, name: str, context: dict[str, Any]) -> Any:
    methods = {"METRICS": [name], "LANGUAGE": Language.ENG, "_get_context": lambda *_: context}
    return draw(type("Own", (Capitals,), methods)(data=folder), 1, 42)[0]


def ran(sample: Any, reply: Prediction, sandbox: ProgramPool) -> Ran:
    """What happened to the program of `tests_passed`."""
    return sandbox.run([next(LIBRARY["tests_passed"].score(sample, reply))])[0]


@pytest.mark.parametrize("name", ["CodeExecutionPassAtOne", "CodeExecutionPassAtOneWithCodebench"])
@pytest.mark.parametrize(
    ("reply", "passed", "output"),
    [
        ("import numpy as np\n\ndef twice(x):\n    return int(np.add(x, x))", 1, "Ran 1 test"),
        ("def twice(x):\n    return x", 0, "FAILED (failures=1)"),
        ("def twice(x):\n    return x\nprint('OK')", 0, "FAILED (failures=1)"),
        ("def other(x): pass", 0, "NameError"),
    ],
)
def test_tests_of_unittest_run_behind_the_program(  # noqa: PLR0917 - columns of the table
    folder: Path,
    sandbox: ProgramPool,
    name: str,
    reply: str,
    passed: int,
    output: str,
) -> None:
    happened = ran(sample_of(folder, name, BIG_CODE_BENCH), prediction("q", reply=reply), sandbox)
    assert happened.passed == passed, happened.output
    assert output in happened.output


def test_tests_that_do_not_exist_are_not_passed(folder: Path, sandbox: ProgramPool) -> None:
    sample = sample_of(folder, "CodeExecutionPassAtOne", BIG_CODE_BENCH | {"test_code": "import unittest"})
    assert not ran(sample, prediction("q", reply="def twice(x): pass"), sandbox).passed


@pytest.mark.parametrize("bodies", [foreign.RIGHT, foreign.WRONG])
def test_a_program_of_multipl_e_is_prompt_reply_and_tests(
    folder: Path, sandbox: ProgramPool, bodies: dict[str, str]
) -> None:
    context = {"prompt": foreign.BEGINNINGS["sh"], "tests": foreign.TESTS["sh"], "language": "sh"}
    sample = sample_of(folder, "MultiPLECodeAssertion", context)
    assert ran(sample, prediction("q", reply=bodies["sh"]), sandbox).passed == (bodies is foreign.RIGHT)


def test_a_language_without_a_compiler_is_refused_with_its_row(folder: Path) -> None:
    context = {"prompt": "", "tests": "", "language": "cobol"}
    with pytest.raises(DataError, match=r"the context has the language 'cobol'; expected one of cpp, java, js"):
        sample_of(folder, "MultiPLECodeAssertion", context)
