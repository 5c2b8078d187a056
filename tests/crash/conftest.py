from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.crash.project import CrashProject

CONFTEST = "from tests.crash.child import pytest_configure, pytest_puma_backend\n"
#: Every run would load scikit-learn, for seconds.
INI = "[pytest]\npuma_naive_baselines = false\n"

collect_ignore_glob = ["test_*"] if sys.platform == "win32" else []


@pytest.fixture
def project(tmp_path: Path, gguf: Path) -> CrashProject:
    return made(tmp_path / "project", gguf)


def made(folder: Path, gguf: Path) -> CrashProject:
    """Create a project with the models `one.gguf` and `two.gguf`."""
    folder.mkdir()
    project = CrashProject(folder)
    project.write("conftest.py", CONFTEST)
    project.write("pytest.ini", INI)
    for name in ("one.gguf", "two.gguf"):
        (folder / name).hardlink_to(gguf)
    return project
