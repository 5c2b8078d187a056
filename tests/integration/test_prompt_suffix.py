"""`--puma-prompt-suffix`, the marker's `prompt_suffix`, the ini key and the scenario's attribute."""

from __future__ import annotations

import shutil
from typing import Any

from tests.integration.conftest import INI, ONE_PROCESS, Project
from tests.integration.knowing_model import refused, write_rows

#: It answers with the end of its question.
ENDING = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend(lambda prompt: prompt[-9:], digest="5a")
"""
BENCHMARK = """
import pytest
from pytest_puma import CompletionScenario

class Echo(CompletionScenario):
    name = "echo"
    data = "echo.jsonl"
    ATTRIBUTE

    def instruction(self, item):
        return f"Say {item['text']}"

    def truth(self, item):
        return "x"

@pytest.mark.puma(Echo, strategies=["zero_shot"]MARKER)
def test_echo(puma):
    pass
"""


def written(project: Project, *, attribute: str = "", marker: str = "") -> Project:
    project.write(conftest=ENDING, test_echo=BENCHMARK.replace("ATTRIBUTE", attribute).replace("MARKER", marker))
    write_rows(project, "echo.jsonl", *({"text": f"no. {number} of many"} for number in range(3)))
    return project


def ends(project: Project, *options: str) -> tuple[set[str], Any]:
    """The ends of the prompts, and what the signature says."""
    project.run(*options).assert_outcomes(passed=1)
    signature = project.record()["outcomes"][0]["signature"]
    found = {line["raw"][0] for line in project.predictions()}, signature.get("prompt_suffix")
    shutil.rmtree(project.pytester.path / ".puma")
    return found


def test_the_command_wins_over_the_marker_and_this_over_the_scenario(project: Project) -> None:
    written(project, attribute="prompt_suffix = '<attrib.>'", marker=", prompt_suffix='<marker.>'")
    assert ends(project, "--puma-prompt-suffix=<command>") == ({"<command>"}, "<command>")
    assert ends(project) == ({"<marker.>"}, "<marker.>")
    written(project, attribute="prompt_suffix = '<attrib.>'")
    assert ends(project) == ({"<attrib.>"}, "<attrib.>")
    assert ends(project, "--puma-prompt-suffix=") == ({f"{number} of many" for number in range(3)}, None)


@ONE_PROCESS
def test_the_ini_key_wins_over_the_scenario(project: Project) -> None:
    written(project, attribute="prompt_suffix = '<attrib.>'").pytester.makeini(f"{INI}puma_prompt_suffix = <ini key>\n")
    assert ends(project) == ({"<ini key>"}, "<ini key>")


@ONE_PROCESS
def test_kept_answers_and_reruns_know_the_suffix(project: Project) -> None:
    written(project)
    project.run("--puma-prompt-suffix= NOW").assert_outcomes(passed=1)
    model = f"--puma-model={project.model}@5a"
    project.run(model, "--puma-offline", "--puma-prompt-suffix= NOW", model=False).assert_outcomes(passed=1)
    project.run("--puma-rescore=last", model=False).assert_outcomes(passed=1)
    other = project.run(model, "--puma-offline", model=False)
    other.assert_outcomes(errors=1)
    other.stdout.fnmatch_lines(["*3 of 3 answers are not kept*"])


@ONE_PROCESS
def test_a_suffix_that_is_no_text_is_refused(project: Project) -> None:
    assert "prompt_suffix is 3; expected a text" in refused(written(project, marker=", prompt_suffix=3"))
