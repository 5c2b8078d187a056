from dataclasses import replace

import pytest

from tests.integration.conftest import TRIAGE, Project
from tests.tiny_gguf import LLAMA_NO_BOS, write_gguf, write_vocab_only

COMMAND_LINES = {
    "a model that is not there": (
        ["--puma-model=nope.gguf"],
        "*puma: --puma-model 'nope.gguf': no such file in *",
    ),
    "a model that is empty": (["--puma-model=empty.gguf"], "*puma: --puma-model 'empty.gguf'*empty*"),
    "a model that is no GGUF": (["--puma-model=page.gguf"], "*puma: --puma-model 'page.gguf'*GGUF*"),
    "a model that is cut off": (["--puma-model=cut.gguf"], "*puma: --puma-model 'cut.gguf'*"),
    "a model that is a vocabulary": (["--puma-model=vocab.gguf"], "*puma: --puma-model 'vocab.gguf'*"),
    "an unknown model option": (["--puma-model=vocab.gguf,n_gpu=3"], "*puma: --puma-model *n_gpu*n_ctx*gpu_layers*"),
    "an unknown scenario": (
        ["--puma-scenario=triage"],
        "*puma: --puma-scenario: scenario 'triage' is unknown; there are*",
    ),
    "an unknown strategy": (["--puma-strategy=few_shots"], "*puma: strategy 'few_shots' is unknown; did you mean *"),
    "an empty name": (["--puma-strategy=egi,"], "*puma: --puma-strategy 'egi,': found an empty name*"),
    "samples": (["--puma-samples=0"], "*puma: the command line: samples is 0; expected a number from 1*"),
    "two reports in a file": (
        ["--puma-report=md:x", "--puma-report=csv:x"],
        "*puma: --puma-report: two formats for */x, of which one would overwrite the other*",
    ),
    "threads": (["--puma-threads=-1"], "*puma: --puma-threads is -1; expected a number from 1 to 4096*"),
    "a seed": (["--puma-seed=-1"], "*puma: the command line: seed is -1; expected a number from 0 to *"),
    "temperature": (
        ["--puma-temperature=-1"],
        "*puma: the command line: temperature is -1.0; expected a number from 0 to 100*",
    ),
    "max tokens": (["--puma-max-tokens=0"], "*puma: the command line: max_tokens is 0; expected a number from 1*"),
    "a gate without an operator": (["--puma-gate=f1_macro 0.4"], "*puma: *f1_macro 0.4*column*"),
    "data without a scenario": (["--puma-data=x.csv"], "*puma: --puma-data 'x.csv': expected SCENARIO=PATH*"),
    "data of an unknown scenario": (["--puma-data=x=x.csv"], "*puma: --puma-data: scenario 'x' is unknown*"),
    "data that are not there": (
        ["--puma-data=triage_jira=x.csv"],
        "*puma: --puma-data 'triage_jira=x.csv': no such file: *",
    ),
}


@pytest.mark.parametrize("case", COMMAND_LINES)
def test_a_bad_command_line_ends_with_exit_4_and_a_sentence(project: Project, case: str) -> None:
    arguments, sentence = COMMAND_LINES[case]
    folder = project.pytester.path
    project.write(test_triage=TRIAGE)
    (folder / "empty.gguf").touch()
    (folder / "page.gguf").write_text("<html>not found</html>", encoding="utf-8")
    (folder / "cut.gguf").write_bytes(project.model.read_bytes()[:500_000])
    write_vocab_only(folder / "vocab.gguf")
    result = project.run(*arguments, model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {sentence.removeprefix('*')}"])


MARKERS = {
    "no argument puma": (
        "@pytest.mark.puma('triage_jira')\ndef test_x(): pass",
        "*has the puma marker but not the argument*",
    ),
    "no marker": ("def test_x(puma): pass", "*has the puma argument and 0 puma markers; expected one*"),
    "two markers": (
        "@pytest.mark.puma('triage_jira')\n@pytest.mark.puma('triage_jira')\ndef test_x(puma): pass",
        "*has the puma argument and 2 puma markers*",
    ),
    "another puma": (
        "@pytest.fixture\ndef puma(): return 7\n@pytest.mark.puma('triage_jira')\ndef test_x(puma): pass",
        "*has the puma marker but its argument puma is another fixture of this name; expected *",
    ),
    "unknown scenario": ("@pytest.mark.puma('triag')\ndef test_x(puma): pass", "*scenario 'triag' is unknown*"),
    "unknown keyword": (
        "@pytest.mark.puma('triage_jira', sample=3)\ndef test_x(puma): pass",
        "*the marker does not know sample; did you mean 'samples'? expected @pytest.mark.puma(scenario, *, gates, *",
    ),
    "a number for a list": (
        "@pytest.mark.puma('triage_jira', gates=3)\ndef test_x(puma): pass",
        "*the marker's gates is 3; expected a list of texts*",
    ),
    "unknown strategy": (
        "@pytest.mark.puma('triage_jira', strategies=['zero'])\ndef test_x(puma): pass",
        "*strategy 'zero' is unknown*",
    ),
    "unknown metric": (
        "@pytest.mark.puma('triage_jira', gates=['f1 >= 0.4'])\ndef test_x(puma): pass",
        "*triage_jira has no metric 'f1'; *there are: f1_macro, *",
    ),
    "no samples": (
        "@pytest.mark.puma('triage_jira', samples=0)\ndef test_x(puma): pass",
        "*samples is 0; expected a number from 1*",
    ),
    "a text for a number": (
        "@pytest.mark.puma('triage_jira', samples='8')\ndef test_x(puma): pass",
        "*samples is '8'; expected a number from 1*",
    ),
    "half a sample": (
        "@pytest.mark.puma('triage_jira', samples=8.5)\ndef test_x(puma): pass",
        "*samples is 8.5; expected a whole number*",
    ),
    "no strategies": (
        "@pytest.mark.puma('triage_jira', strategies=[])\ndef test_x(puma): pass",
        "*strategies is empty; expected at least one name*",
    ),
    "a greedy vote": (
        "@pytest.mark.puma('triage_jira', strategies=['self_consistency'], temperature=0)\ndef test_x(puma): pass",
        "*strategy self_consistency_5: temperature is 0*",
    ),
    "one id, two settings": (
        """
@pytest.mark.puma('triage_jira')
def test_x(puma): pass

@pytest.mark.puma('triage_jira', samples=3)
def test_y(puma): pass
""",
        "*zero_shot@tiny is asked for by *::test_x too, with different settings: samples 50 there and 3 here; *",
    ),
    "one id, two temperatures": (
        """
@pytest.mark.puma('triage_jira', strategies=['zero_shot'])
def test_x(puma): pass

@pytest.mark.puma('triage_jira', strategies=['zero_shot'], temperature=0.7)
def test_y(puma): pass
""",
        "*zero_shot@tiny is asked for by *::test_x too, with different settings: temperature 0.0 there and 0.7 here; *",
    ),
    "one id, two files": (
        """
from pathlib import Path
from pytest_puma.scenarios import TriageJiraScenario

ROW = "issue_key,title,description,priority\\nA-1,Login fails,Nobody can log in.,{}\\n"
Path("a.csv").write_text(ROW.format("Critical"))
Path("b.csv").write_text(ROW.format("Minor"))

@pytest.mark.puma(TriageJiraScenario(Path("a.csv")), strategies=['zero_shot'])
def test_x(puma): pass

@pytest.mark.puma(TriageJiraScenario(Path("b.csv")), strategies=['zero_shot'])
def test_y(puma): pass
""",
        "*zero_shot@tiny is asked for by *::test_x too, with different settings: data a.csv (*) there and b.csv (*",
    ),
    "unknown kind of task": (
        """
from pytest_puma.scenarios import TriageJiraScenario

class Written(TriageJiraScenario):
    task_type = "generation"

@pytest.mark.puma(Written())
def test_x(puma): pass
""",
        "*Written: the scenario's task_type is 'generation'; there are: classification, regression*",
    ),
    "a class alone, which pytest decorates": (
        """
from pytest_puma.scenarios import TriageJiraScenario

@pytest.mark.puma(TriageJiraScenario)
def test_x(puma): pass
""",
        "*TriageJiraScenario: pytest takes a class alone for what is to be marked; expected an instance: *puma(*())*",
    ),
}


@pytest.mark.parametrize("case", MARKERS)
def test_a_bad_marker_is_a_collection_error(alone: Project, case: str) -> None:
    source, sentence = MARKERS[case]
    alone.write(test_bad=f"import pytest\n{source}")
    result = alone.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([sentence])
    result.stdout.no_fnmatch_line("*Traceback*")


def test_a_bad_marker_is_no_green_run_with_workers(scripted: Project) -> None:
    scripted.write(test_bad="import pytest\n@pytest.mark.puma('triag')\ndef test_x(puma): pass")
    result = scripted.run()
    assert result.ret != 0
    result.stdout.fnmatch_lines(["*scenario 'triag' is unknown*"])


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
    asked = ("--puma-data=triage_jira=mine.csv", "--puma-strategy=zero_shot,few_shot_3")
    result = alone.run(*asked, "--puma-samples=8")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*'triage_jira': 3 examples asked for, 1 there that are not among the 8 samples; *"])
    alone.run(*asked, "--puma-samples=6").assert_outcomes(passed=2)


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


def test_a_model_path_that_makes_pytest_overlook_the_ini_file_is_refused(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-model", str(alone.model), model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        [f"ERROR: puma: pytest takes {alone.model} for a test path and does not read *tox.ini*"]
    )


def test_a_model_path_that_moves_the_root_is_refused_without_an_ini_file_too(alone: Project) -> None:
    (alone.pytester.path / "tox.ini").unlink()
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-model", str(alone.model), model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    moved = "for a test path and makes * its root folder; write an equals sign: --puma-model=*"
    result.stderr.fnmatch_lines([f"ERROR: puma: pytest takes {alone.model} {moved}"])
    assert alone.run().ret == 0
    # Inside the folder no path moves the root.
    (alone.pytester.path / "own.gguf").write_bytes(alone.model.read_bytes())
    assert alone.run("--puma-model", "own.gguf", model=False).ret == 0


def test_a_model_path_that_adds_another_ini_file_is_refused(alone: Project) -> None:
    folder = alone.pytester.path
    (folder / "tox.ini").unlink()
    alone.write(test_triage=TRIAGE)
    models = alone.pytester.mkdir("models")
    (models / "own.gguf").write_bytes(alone.model.read_bytes())
    # A project without a section of pytest is its root all the same, and so is one with a setup.py.
    for name in ("pyproject.toml", "setup.py"):
        (folder / name).touch()
        assert alone.run("--puma-model", "models/own.gguf", model=False).ret == 0
    (models / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    for arguments, fault in (
        ((), "does not read *pyproject.toml"),
        (("--rootdir=.",), "does not read *pyproject.toml"),
        (("-c", "pyproject.toml"), ""),
        (("test_triage.py",), ""),
    ):
        result = alone.run(*arguments, "--puma-model", "models/own.gguf", model=False)
        assert result.ret == (pytest.ExitCode.USAGE_ERROR if fault else 0)
        if fault:
            result.stderr.fnmatch_lines([f"ERROR: puma: pytest takes models/own.gguf for a test path and {fault}; *"])
    (folder / "pyproject.toml").unlink()
    (folder / "setup.py").unlink()
    result = alone.run("--puma-model", "models/own.gguf", model=False)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: puma: pytest takes *own.gguf for a test path and reads *pytest.ini; *"])


DEEP = "[" * 100_000


def test_deep_nesting_is_a_sentence(alone: Project) -> None:
    folder = alone.pytester.path
    alone.write(test_triage=TRIAGE)
    (folder / "deep.jsonl").write_text(DEEP, encoding="utf-8")
    (folder / "deep.puma.yaml").write_text(DEEP, encoding="utf-8")
    result = alone.run("--puma-data=triage_jira=deep.jsonl")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(
        ["*deep.puma.yaml, line 1: the file is nested too deeply*", "*deep.jsonl: line 1 is nested too deeply*"]
    )
    result.stdout.no_fnmatch_line("*RecursionError*")


TEMPLATES = {
    "{{ titel }} {{ description }}": "zero_shot.jinja, line 1: 'titel' is undefined; did you mean 'title'? the *",
    "{{ instance.titel }}": "zero_shot.jinja, line 1: *has no attribute 'titel'; did you mean 'title'? the variables *",
    "Which priority: {{ labels | join(', ') }}?": "zero_shot.jinja: shows no field of the sample, *: *title*",
    "{{ title }} is {{ priority }}": "zero_shot.jinja, line 1: 'priority' tells the gold answer, which no prompt may *",
    "{{ title }} {{ instance.priority }}": "zero_shot.jinja, line 1: 'priority' tells the gold answer, which no *",
}


def test_a_template_that_no_run_should_begin_with_is_a_collection_error_told_once(alone: Project) -> None:
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
