"""A grid of variants in a project with the files of a model and of a control vector."""

from __future__ import annotations

import shutil

import pytest

from pytest_puma.platform.bundled import bundled_folder
from tests.integration.conftest import TRIAGE, Project
from tests.tiny_controls import write_vector

GRID = "q.gguf,steer=loud.gguf:0/1/2"


def write_files(project: Project) -> Project:
    """Write a model, a control vector and a test; return the project."""
    folder = project.pytester.path
    shutil.copy(bundled_folder("models") / "puma-tiny.gguf", folder / "q.gguf")
    write_vector(folder / "loud.gguf")
    project.write(test_it=TRIAGE)
    return project


def run_grid(project: Project, *arguments: str) -> pytest.RunResult:
    """Run the plain model and both strengths of the vector."""
    return project.run(f"--puma-model={GRID}", *arguments, model=False)
