"""Several models and builds share one store, and never get each other's answers: lm-evaluation-harness #4063."""

from __future__ import annotations

import shutil

import pytest

from tests.integration.benchmark_files import TRIAGE
from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.test_response_store import lines_of, newest, rows

#: Who answers is in the answer, and in `computed.txt`.
MODELS = """
from pathlib import Path
from pytest_puma.testing import ScriptedBackend

PRIORITIES = {{"one": "Critical", "two": "Major", "three": "Minor"}}

class Built(ScriptedBackend):
    def __init__(self, name, **parts):
        def answer(prompt):
            with Path("computed.txt").open("a") as stream:
                stream.write(f"{{name}} ")
            return PRIORITIES[name]

        super().__init__(answer, digest={digest})
        self.signature = {{**self.signature, **parts}}

def pytest_puma_backend(model):
    return {backend}
"""
OWN = MODELS.format(digest="name", backend="Built(model.name)")


def answers(project: Project) -> dict[str, set[str]]:
    """The answers of the newest run, by model."""
    by_model: dict[str, set[str]] = {}
    for line in lines_of(newest(project), project):
        by_model.setdefault(line["cell"].partition("@")[2], set()).add(line["answer"])
    return by_model


def computed(project: Project) -> list[str]:
    """Names of the models that computed since the last call."""
    path = project.pytester.path / "computed.txt"
    words = path.read_text(encoding="utf-8").split() if path.exists() else []
    path.write_text("", encoding="utf-8")
    return words


@ONE_PROCESS
def test_two_models_never_get_each_others_answers(project: Project) -> None:
    for name in ("one", "two"):
        shutil.copy(project.model, project.pytester.path / f"{name}.gguf")
    project.write(conftest=OWN, test_triage=TRIAGE)
    both = ("--puma-model=one.gguf", "--puma-model=two.gguf")
    project.run(both[0], model=False).assert_outcomes(passed=1)
    assert (answers(project), computed(project)) == ({"one": {"Critical"}}, ["one"] * 8)
    project.run(*both, model=False).assert_outcomes(passed=2)
    assert (answers(project), computed(project)) == ({"one": {"Critical"}, "two": {"Major"}}, ["two"] * 8)
    project.run(*both, model=False).assert_outcomes(passed=2)
    assert (answers(project), computed(project)) == ({"one": {"Critical"}, "two": {"Major"}}, [])
    # The backend names other weights than those of the files that are there.
    offline = project.run("--puma-offline", "--puma-model=one@one", "--puma-model=two@two", model=False)
    offline.assert_outcomes(passed=2)
    assert answers(project) == {"one": {"Critical"}, "two": {"Major"}}


def test_other_weights_under_the_same_name_are_another_model(alone: Project) -> None:
    for name in ("one", "two", "one"):
        alone.write(conftest=MODELS.format(digest="name", backend=f"Built('{name}')"), test_triage=TRIAGE)
        alone.run().assert_outcomes(passed=1)
    assert (answers(alone), computed(alone)) == ({"tiny": {"Critical"}}, ["one"] * 8 + ["two"] * 8)
    refused = alone.run("--puma-offline", "--puma-model=tiny", model=False)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*different files answered under this name; expected one of tiny@one, tiny@two*"])
    for name, answer in (("one", "Critical"), ("two", "Major")):
        alone.run("--puma-offline", f"--puma-model=tiny@{name}", model=False).assert_outcomes(passed=1)
        assert answers(alone) == {"tiny": {answer}}


@pytest.mark.parametrize("part", ["library_sha256", "cpu", "llama_cpp_python", "devices", "gpu_layers"])
def test_two_builds_of_the_engine_never_get_each_others_answers(alone: Project, part: str) -> None:
    for name in ("one", "two", "one", "two"):
        built = f"Built('{name}', {part}='{name}')"
        alone.write(conftest=MODELS.format(digest="'5a'", backend=built), test_triage=TRIAGE)
        alone.run().assert_outcomes(passed=1)
        assert answers(alone) == {"tiny": {"Critical" if name == "one" else "Major"}}
    assert computed(alone) == ["one"] * 8 + ["two"] * 8
    assert rows(alone, "SELECT count(*) FROM engine") == [(2,)]


@pytest.mark.parametrize("part", ["threads", "parallel", "n_ctx"])
def test_other_threads_share_their_answers_and_every_report_tells_it(alone: Project, part: str) -> None:
    for name in ("one", "two"):
        built = f"Built('{name}', {part}='{name}')"
        alone.write(conftest=MODELS.format(digest="'5a'", backend=built), test_triage=TRIAGE)
        result = alone.run()
        result.assert_outcomes(passed=1)
    assert computed(alone) == ["one"] * 8
    result.stdout.fnmatch_lines(
        ["warning: triage_jira-zero_shot@tiny: all 8 answers kept from run *, computed in another batch"]
    )
