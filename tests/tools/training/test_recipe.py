"""Every step of the recipe on a useless model, as the command line runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pytest_puma.models.resolve import inspect_model

pytest.importorskip("torch", reason="needs PyTorch: pip install -e '.[training]'")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("training")


@pytest.fixture(scope="module")
def output(folder: Path) -> str:
    command = [sys.executable, "-m", "tools.training", "all", "--smoke", "--folder", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own command
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_steps_go_from_phrases_to_figures(output: str) -> None:
    assert [line for line in output.splitlines() if line.startswith("==")] == [
        "== generate",
        "== tokenizer",
        "== train",
        "== export",
        "== evaluate",
    ]
    assert "`option_scoring`" in output


def test_the_file_is_a_model_that_llama_cpp_runs(output: str, folder: Path) -> None:
    assert output
    model = inspect_model(folder / "puma-tiny.gguf")
    assert (model.architecture, model.name) == ("qwen2", "puma-tiny")


def test_logits_are_kept_for_fresh_dialogues(output: str, folder: Path) -> None:
    assert output
    kept = np.load(folder / "logits.npz")
    assert kept["lengths"].sum() == len(kept["tokens"])
    assert kept["rows"].sum() == len(kept["places"]) == len(kept["best"]) == len(kept["logits"]) > 40
    assert np.abs(kept["logits"] - kept["rounded"]).max() < 0.5
