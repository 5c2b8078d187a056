"""Answers in mathematics from a run to its measures, with and without workers; no process is left behind."""

from __future__ import annotations

import json
import os

import psutil
import pytest

from tests.integration.conftest import Project

pytest.importorskip("math_verify")

SQUARES = """
import pytest
from pytest_puma import CompletionScenario

class Squares(CompletionScenario):
    name = "squares"
    data = "squares.jsonl"
    scores = ("math_match",)

    def instruction(self, item):
        return f"Expand (x + {item['number']}) squared."

    def truth(self, item):
        return item["truth"]

@pytest.mark.puma(Squares, strategies=["zero_shot"], gates=["math_match >= 0.5"])
def test_squares(puma):
    pass
"""

#: The right square as a product, a wrong one, or no formula; the first model also has a bomb, whose process is killed.
REPLIES = r"""
import re
from pytest_puma.testing import ScriptedBackend

def reply(prompt, bomb):
    number = int(re.findall(r"x \+ ([0-9]+)", prompt)[-1])
    if number == 3:
        return r"The answer is $9^{9^{9^{9}}}$." if bomb else "I do not know."
    if number % 4 == 1:
        return "I do not know."
    return rf"So it is $\boxed{{(x + {number}) \cdot (x + {number})}}$." if number % 4 else r"\boxed{x^2}"

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: reply(prompt, model.name == "one"))
"""


def test_expressions_are_measured_and_no_process_is_left(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = project.pytester.path
    monkeypatch.setenv("PUMA_TEST_FOLDER", str(folder))
    project.write(test_squares=SQUARES, conftest=REPLIES)
    rows = [{"number": number, "truth": f"x^2+{2 * number}x+{number**2}"} for number in range(8)]
    (folder / "squares.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    workers = ("xdist", "-n", str(project.workers)) if project.workers else ("no:xdist",)
    # A model for each worker.
    names = ("one", "two")[: project.workers or 1]
    models = [f"--puma-model={name}={project.model}" for name in names]
    project.pytester.runpytest_subprocess("-p", *workers, *models).assert_outcomes(passed=len(names))
    # Half of the numbers from 0 to 7: 2, 6, 7, and 0 itself.
    assert [each["measures"]["math_match"]["value"] for each in project.record()["outcomes"]] == [0.5] * len(names)
    assert not left(folder)


def left(folder: os.PathLike[str]) -> list[psutil.Process]:
    """Processes that a run in this folder started."""
    return [process for process in psutil.process_iter() if _folder(process) == str(folder)]


def _folder(process: psutil.Process) -> str | None:
    try:
        return None if process.pid == os.getpid() else process.environ().get("PUMA_TEST_FOLDER")
    except psutil.Error:
        return None
