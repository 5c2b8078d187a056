"""The names of a run, what is no name, and the command for the next comparison (`pytest_puma.runs.names`)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from pytest_puma.core import DataError, Invocation
from pytest_puma.runs.names import find_run, next_comparison
from pytest_puma.runs.rows import RunRow

ONE, TWO = "3f2c1d9a" * 5, "3f2c0000" * 5

EXPECTED = "expected a number, a name or its beginning, last, last~2, a commit or a branch"
NEWEST = "the newest are 45 (20261105T100000-1), 44 (20261104T100000-3), 43 (20261103T100000-2)"
GOES_ON = "so it has no run.json; the same command goes on with its kept answers"


def row(number: int, name: str, commit: str = "", branch: str = "", *, dirty: bool = False) -> RunRow:
    return RunRow(number=number, name=name, invocation=Invocation(commit=commit, branch=branch, dirty=dirty))


FINISHED = [
    row(45, "20261105T100000-1", TWO, "feature/x", dirty=True),
    row(44, "20261104T100000-3", TWO, "main", dirty=True),
    row(43, "20261103T100000-2", TWO, "main"),
    row(42, "20261103T100000-1", ONE, "main"),
    row(41, "43"),
    row(7, "20261101T100000-1"),
]
UNFINISHED = [
    RunRow(name="20261106T100000-1", state="cut off"),
    RunRow(name="20261106T100000-2", state="running"),
    RunRow(name="20261106T100000-3", state="damaged"),
]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("last", 45),
        ("last~0", 45),
        ("last~2", 43),
        ("last~5", 7),
        ("42", 42),
        ("7", 7),
        ("43", 43),
        ("20261103T100000-1", 42),
        ("20261101", 7),
        ("main", 43),
        (ONE, 42),
        ("3f2c1", 42),
        ("3f2c0", 43),
    ],
)
def test_a_text_means_a_run(text: str, number: int) -> None:
    assert find_run(text, FINISHED, UNFINISHED).number == number


@pytest.mark.parametrize(
    ("text", "newer", "number"), [("main", "43", 42), ("main", "42", 43), ("3f2c0", "42", 43), ("last~1", "last", 44)]
)
def test_a_branch_means_another_run_than_the_one_it_is_compared_with(text: str, newer: str, number: int) -> None:
    assert find_run(text, FINISHED, newer=find_run(newer, FINISHED)).number == number


@pytest.mark.parametrize(("text", "newer"), [("3f2c0", "43"), (ONE, "42"), ("last", "45"), ("7", "last~5")])
def test_a_text_that_can_only_mean_the_run_itself_is_an_error(text: str, newer: str) -> None:
    with pytest.raises(DataError, match="itself, which is to be compared; expected another run"):
        find_run(text, FINISHED, newer=find_run(newer, FINISHED))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("last~6", "RUN 'last~6': there are 6 finished runs; pytest-puma list shows them"),
        ("feature/x", "RUN 'feature/x': all its runs had uncommitted changes; expected a clean one; the newest is 45"),
        ("3f2c", f"RUN '3f2c': 2 commits begin so: {TWO}, {ONE}; expected more digits"),
        (
            "20261103",
            "RUN '20261103': 2 names begin so: 20261103T100000-2, 20261103T100000-1; expected more of the name",
        ),
        (
            "mian",
            f"RUN 'mian': no such run; did you mean 'main'? {EXPECTED}; {NEWEST}",
        ),
        (
            "20261106T100000-1",
            f"RUN '20261106T100000-1': the run was cut off, {GOES_ON}",
        ),
        ("20261106T100000-2", "RUN '20261106T100000-2': the run is still running; wait for its end"),
        ("20261106T100000-3", "RUN '20261106T100000-3': the run has a run.json that cannot be read; run again"),
    ],
)
def test_what_means_no_run_is_an_error_that_names_similar_ones(text: str, fault: str) -> None:
    with pytest.raises(DataError) as error:
        find_run(text, FINISHED, UNFINISHED)
    assert str(error.value) == fault


@pytest.mark.parametrize("text", ["", "0", "99", "last~", "last~x", "LAST", "~1", "-1", "3f2", "../x", "2026 "])
def test_no_text_means_a_run_by_accident(text: str) -> None:
    with pytest.raises(DataError, match="no such run"):
        find_run(text, FINISHED)


@pytest.mark.parametrize("text", ["last", "main"])
def test_without_a_run_the_error_says_what_to_do(text: str) -> None:
    with pytest.raises(DataError, match=r"there is no finished run.*run a benchmark first"):
        find_run(text, [])


@pytest.mark.parametrize(
    ("new", "old", "command"),
    [
        (["a-zero_shot@m"], ["a-zero_shot@m", "b-egi@m"], "pytest-puma compare last~1 last"),
        (
            ["b-egi@gemma", "a-zero_shot@gemma"],
            ["a-zero_shot@smollm2", "a-egi@other"],
            (
                "the same tests with --puma-model=smollm2 '--puma-model=my gemma.gguf,chat=off' "
                "--puma-compare model --puma-offline"
            ),
        ),
        (["a-zero_shot+case_upper@m"], ["a-zero_shot@n"], ""),
        (["a-zero_shot@m"], ["b-zero_shot@n"], ""),
        (["a-zero_shot@m+a-1"], ["a-zero_shot@m+a-0.5"], ""),
    ],
    ids=["the same cells", "another model", "another perturbation", "nothing in common", "variants"],
)
def test_the_command_fits_what_both_runs_have(new: Sequence[str], old: Sequence[str], command: str) -> None:
    commands = [["pytest", "--puma-model=smollm2", "-ka"], ["pytest", "--puma-model=my gemma.gguf,chat=off"]]
    assert next_comparison(new, old, commands) == command
    if "same tests" in command:
        assert not next_comparison(new, old, [commands[0], ["pytest"]]), "models of the ini file are not in the command"
