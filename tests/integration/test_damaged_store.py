"""A store that is damaged, as the user of a benchmark meets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.conftest import Project
from tests.integration.test_rescore import TRIAGE
from tests.integration.test_response_store import KEPT


def store_of(project: Project) -> Path:
    return project.pytester.path / ".puma" / "responses.sqlite"


def test_offline_tells_why_a_store_cannot_be_opened(alone: Project) -> None:
    alone.write(conftest=KEPT, test_triage=TRIAGE)
    alone.run().assert_outcomes(passed=1)
    content = store_of(alone).read_bytes()
    store_of(alone).write_bytes(bytes(100) + content[100:])
    result = alone.run("--puma-model=tiny", "--puma-offline", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    problem = f"no answers of tiny are kept ({store_of(alone)} cannot be opened: file is not a database)"
    result.stderr.fnmatch_lines([f"ERROR: puma: --puma-model 'tiny': {problem}; run without --puma-offline"])
