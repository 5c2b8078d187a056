"""Programs that print their verdict, in the real sandbox."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pytest_puma.metrics.library import LIBRARY
from pytest_puma.sandbox.confinement import landlock_version
from pytest_puma.sandbox.pool import ProgramPool
from tests.metrics.library.replies import question, replied

pytestmark = pytest.mark.skipif(not landlock_version(), reason="this kernel has no Landlock")


@pytest.fixture
def pool() -> Iterator[ProgramPool]:
    pool = ProgramPool("sandbox", 1)
    yield pool
    pool.close()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("def double(x):\n    return 2 * x\n\nprint('tests:', double(2) == 4)", 1),
        ("print(False)", 0),
        ("print(True)\nprint('done')", 0),
        ("print(True)\nraise SystemExit", 0),  # with eval-framework 1: it never reached its tests
        ("print(True)\nimport os; os._exit(0)", 0),
        ("print(True)\n1 / 0", 0),
        ("", 0),
    ],
)
def test_a_program_that_prints_its_verdict_must_end_and_print_true_last(
    text: str, value: int, pool: ProgramPool
) -> None:
    score: Any = LIBRARY["prints_true"].score(question(), replied(text))
    program = next(score)
    with pytest.raises(StopIteration) as ended:
        score.send(pool.run([program])[0])
    assert ended.value.value == value


@pytest.mark.parametrize(("text", "value"), [("x = 1", 1), ("", 0), ("1 / 0", 0)])
def test_only_a_program_that_is_there_runs(text: str, value: int, pool: ProgramPool) -> None:
    score: Any = LIBRARY["runs"].score(question(), replied(text))
    with pytest.raises(StopIteration) as ended:
        score.send(pool.run([next(score)])[0])
    assert ended.value.value == value
