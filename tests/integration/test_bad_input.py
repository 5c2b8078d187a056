"""Unusable data, templates and models: one sentence, no traceback of the plugin."""

from dataclasses import replace

import pytest

from tests.integration.conftest import ONE_PROCESS, TRIAGE, Project
from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf


@ONE_PROCESS
def test_a_model_without_a_chat_template_runs_and_the_report_says_how(project: Project) -> None:
    write_gguf(project.pytester.path / "bare.gguf", replace(LLAMA_NO_BOS, chat_template=None))
    project.write(test_triage=TRIAGE.replace('["zero_shot"]', '["zero_shot", "one_shot"]'))
    result = project.run("--puma-model=bare.gguf,gpu_layers=9", "--puma-report=md:report.md", model=False)
    result.assert_outcomes(passed=2)
    (template,) = [line for line in result.outlines if "no chat template" in line]
    assert template.startswith("warning: bare: the file has no chat template; prompts use the plain format")
    (layers,) = [line for line in result.outlines if "gpu_layers" in line]
    assert layers.startswith("warning: bare: gpu_layers=9 has no effect")
    record = project.record()
    assert [note.partition(";")[0] for note in record["notes"]][:1] == ["bare: the file has no chat template"]
    assert all("chat template" not in str(outcome) for outcome in record["outcomes"])
    assert (project.pytester.path / "report.md").read_text(encoding="utf-8").count("no chat template") == 1


GOOD_ROW = "A-1,Login fails,Nobody can log in.,Critical\n"
DATA = {
    "a missing column": ("issue_key,title,description\nA-1,x,y\n", "*mine.csv*priority*"),
    "a missing gold": (f"issue_key,title,description,priority\n{GOOD_ROW}A-2,x,y,\n", "*mine.csv*row 3*A-2*priority*"),
    "an unknown label": (
        f"issue_key,title,description,priority\n{GOOD_ROW}A-2,x,y,Urgent\n",
        "*mine.csv*row 3*A-2*priority*Urgent*",
    ),
    "an id twice": (f"issue_key,title,description,priority\n{GOOD_ROW}{GOOD_ROW}", "*mine.csv*row 3*A-1*issue_key*"),
    "no rows": ("issue_key,title,description,priority\n", "*mine.csv*"),
}


@pytest.mark.parametrize("case", DATA)
def test_unusable_data_are_a_collection_error_with_file_row_and_column(alone: Project, case: str) -> None:
    text, sentence = DATA[case]
    alone.write(test_triage=TRIAGE)
    (alone.pytester.path / "mine.csv").write_text(text, encoding="utf-8")
    result = alone.run("--puma-data=triage_jira=mine.csv")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([sentence])


def test_too_few_rows_for_examples_are_a_collection_error(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    rows = "".join(f"A-{number},Login fails,Nobody can log in since {number}.,Critical\n" for number in range(9))
    (alone.pytester.path / "mine.csv").write_text(f"issue_key,title,description,priority\n{rows}", encoding="utf-8")
    arguments = ("--puma-data=triage_jira=mine.csv", "--puma-strategy=zero_shot,few_shot_3")
    result = alone.run(*arguments, "--puma-samples=8")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*'triage_jira': 3 examples requested, 1 there that are not among the 8 samples; *"])
    alone.run(*arguments, "--puma-samples=6").assert_outcomes(passed=2)


def test_what_the_engine_cannot_do_is_a_sentence_without_our_traceback(project: Project) -> None:
    project.write(
        test_triage=TRIAGE,
        conftest="""
from pytest_puma.core import EngineError
from pytest_puma.testing import ScriptedBackend

def answer(prompt):
    raise EngineError("small: the machine is out of memory")

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
""",
    )
    result = project.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ERROR at setup*", "*small: the machine is out of memory", "*= 1 error in *"])
    result.stdout.no_fnmatch_line("*pytest_puma/*")


def test_a_template_that_is_missing_is_an_error_that_names_the_file_to_create(alone: Project) -> None:
    alone.write(
        test_own="""
import pandas as pd
import pytest
from pytest_puma import Scenario

class Mood(Scenario):
    name = "mood"
    task_type = "classification"
    def sample(self, n, seed=42): return pd.DataFrame([{"text": "fine", "label": "good"}][:n])
    def gold_label(self, instance): return instance["label"]
    def parse_response(self, response): return response if response in self.valid_labels() else None
    def valid_labels(self): return ["good", "bad"]

@pytest.mark.puma(Mood, strategies=["zero_shot"])
def test_mood(puma): pass
"""
    )
    result = alone.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*prompts/mood/zero_shot.jinja*"])


DEEP = "[" * 100_000


def test_deep_nesting_is_a_sentence(alone: Project) -> None:
    folder = alone.pytester.path
    alone.write(test_triage=TRIAGE)
    (folder / "deep.jsonl").write_text(DEEP, encoding="utf-8")
    (folder / "deep.puma.yaml").write_text(DEEP, encoding="utf-8")
    result = alone.run("--puma-data=triage_jira=deep.jsonl")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        [
            "*deep.puma.yaml, line 1: the file is nested too deeply*",
            "*deep.jsonl: line 1 is not JSON (it is nested too deeply*",
        ]
    )
    result.stdout.no_fnmatch_line("*RecursionError*")


TEMPLATES = {
    "{{ titel }} {{ description }}": "zero_shot.jinja, line 1: 'titel' is undefined; did you mean 'title'? the *",
    "{{ instance.titel }}": "zero_shot.jinja, line 1: instance has no field 'titel'; did you mean 'title'? its *",
    "Which priority: {{ labels | join(', ') }}?": "zero_shot.jinja: shows no field of the sample, *: *title*",
    "{{ title }} is {{ priority }}": "zero_shot.jinja, line 1: 'priority' reveals the gold answer, which no prompt *",
    "{{ title }} {{ instance.priority }}": "zero_shot.jinja, line 1: 'priority' reveals the gold answer, which no *",
}


def test_an_unusable_template_is_one_collection_error(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    folder = alone.pytester.mkdir("prompts") / "triage_jira"
    folder.mkdir()
    for template, fault in TEMPLATES.items():
        (folder / "zero_shot.jinja").write_text(template, encoding="utf-8")
        result = alone.run("--puma-strategy=zero_shot,option_scoring")
        assert result.ret == pytest.ExitCode.INTERRUPTED
        assert result.stdout.str().count("zero_shot.jinja") == 1
        result.stdout.fnmatch_lines([f"puma: test_triage.py::test_triage: *{fault}"])
    (folder / "zero_shot.jinja").write_text("{{ instance | join(' ') }} {{ instance }}", encoding="utf-8")
    alone.run().assert_outcomes(passed=1)


def test_a_later_turn_of_a_template_is_checked_too(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    folder = alone.pytester.mkdir("prompts") / "triage_jira"
    folder.mkdir()
    turns = "{% block user %}{{ title }}{% endblock %}\n{% block decide %}{{ labls }}{% endblock %}"
    (folder / "egi.jinja").write_text(turns, encoding="utf-8")
    result = alone.run("--puma-strategy=egi")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*egi.jinja, line 2: 'labls' is undefined; did you mean 'labels'? the variables *"])
