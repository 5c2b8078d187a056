"""A model file that disappears or changes during a run: an error of the tests that would use it, and right numbers."""

from __future__ import annotations

import shutil

import pytest

from tests.integration.conftest import ONE_PROCESS, TRIAGE, Project
from tests.tiny_gguf import QWEN2, write_gguf

TWO = TRIAGE.replace('["zero_shot"]', '["zero_shot", "option_scoring"]')
ARGUMENTS = ("--puma-model=q.gguf", "--puma-max-tokens=4")
#: All workers have collected before the first test begins.
BEFORE = """
import os, pathlib, pytest

@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    model = pathlib.Path("q.gguf")
    if "-zero_shot@" in item.nodeid:
        {change}
"""
AFTER = BEFORE.replace("tryfirst=True", "trylast=True").replace("setup(item)", "teardown(item)")
DELETE = "model.unlink()"
#: Another model of the same size, in place of this one or written into it.
REPLACE = "pathlib.Path('other.gguf').replace(model)"
OVERWRITE = "model.write_bytes(pathlib.Path('other.gguf').read_bytes())"


@pytest.fixture
def changing(project: Project) -> Project:
    shutil.copy(project.model, project.pytester.path / "q.gguf")
    write_gguf(project.pytester.path / "other.gguf", QWEN2)
    project.write(test_triage=TWO)
    return project


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            DELETE,
            "*q: *q.gguf cannot be opened: No such file or directory; expected the file that was checked before: *",
        ),
        (REPLACE, "*q: *q.gguf changed since the model was checked: found * bytes of *, expected * bytes of *; *"),
        (OVERWRITE, "*q: *q.gguf changed since the model was checked: found * bytes of *, expected * bytes of *; *"),
    ],
    ids=["deleted", "replaced", "overwritten"],
)
@ONE_PROCESS
def test_a_file_that_changes_before_it_is_loaded_is_an_error(changing: Project, change: str, sentence: str) -> None:
    changing.write(conftest=BEFORE.format(change=change))
    result = changing.run(*ARGUMENTS, model=False)
    result.assert_outcomes(errors=2)
    result.stdout.fnmatch_lines([sentence])
    assert "INTERNALERROR" not in result.stdout.str()


def test_cells_after_a_write_are_errors_and_those_before_it_keep_their_digest(changing: Project) -> None:
    changing.write(conftest=AFTER.format(change=OVERWRITE))
    result = changing.run(*ARGUMENTS, model=False)
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*q: *q.gguf changed while llama.cpp used it: found *; leave it alone until *"])
    assert changing.cell_ids() == ["triage_jira-zero_shot@q"]


@ONE_PROCESS
@pytest.mark.parametrize("change", [DELETE, REPLACE], ids=["deleted", "replaced"])
def test_a_loaded_file_that_is_deleted_or_replaced_changes_no_number(changing: Project, change: str) -> None:
    changing.run(*ARGUMENTS, model=False).assert_outcomes(passed=2)
    before = changing.predictions()
    shutil.rmtree(changing.pytester.path / ".puma")
    changing.write(conftest=AFTER.format(change=change))
    changing.run(*ARGUMENTS, model=False).assert_outcomes(passed=2)
    assert changing.predictions() == before
    digests = {outcome["signature"]["engine"]["weights_sha256"] for outcome in changing.record()["outcomes"]}
    assert len(digests) == 1
