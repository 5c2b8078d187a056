"""`group_columns`, `subjects=` and `--puma-subject`, as their user sees them."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.integration.conftest import ONE_PROCESS, Project

EXAMS = """
import pytest
from pytest_puma import FileScenario

class Exams(FileScenario):
    name = "exams"
    task_type = "classification"
    data = "exams.csv"
    key = "id"
    text_fields = ("text",)
    label_column = "gold"
    group_columns = ("subject",)

    def valid_labels(self):
        return ["yes", "no"]

    def parse_response(self, response):
        return "yes" if "yes" in response else None

@pytest.mark.puma(Exams, strategies=["zero_shot", "few_shot_2"], samples=9{options})
def test_exams(puma):
    pass
"""

TRIAGE = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=4)
def test_triage(puma):
    pass
"""

TEMPLATE = "{% for each in examples %}[{{ each.subject }}] {{ each.gold_label }}\n{% endfor %}{{ subject }}: {{ text }}"

YES = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({}, default="yes")
"""


def exams(project: Project, *, options: str = "", chess: int = 8) -> Project:
    """A project with a scenario of three subjects."""
    sizes = {"law": 20, "medicine": 8, "chess": chess}
    rows = [f"{subject}-{n},question {n},{subject},{'yes' if n % 2 else 'no'}" for subject in sizes for n in range(20)]
    rows = [row for row in rows if int(row.partition(",")[0].partition("-")[2]) < sizes[row.partition("-")[0]]]
    (project.pytester.path / "exams.csv").write_text("\n".join(["id,text,subject,gold", *rows]), encoding="utf-8")
    prompts = project.pytester.path / "prompts" / "exams"
    prompts.mkdir(parents=True)
    for name in ("zero_shot", "few_shot"):
        (prompts / f"{name}.jinja").write_text(TEMPLATE, encoding="utf-8")
    project.write(test_exams=EXAMS.format(options=options), conftest=YES)
    return project


def groups(project: Project, cell: str = "exams-zero_shot@tiny") -> Counter[str]:
    return Counter(line["groups"]["subject"] for line in project.predictions() if line["cell"] == cell)


def test_groups_take_turns_and_examples_are_of_the_same_group(project: Project) -> None:
    exams(project).run().assert_outcomes(passed=2)

    assert groups(project) == {"law": 3, "medicine": 3, "chess": 3}
    from pytest_puma import load_run

    frame = load_run(project.folder).predictions
    prompts = frame[frame["strategy"] == "few_shot_2"]
    assert len(prompts) == 9
    for prompt, subject in zip(prompts["prompt"], prompts["groups.subject"], strict=True):
        assert prompt.count(f"[{subject}]") == 2 == prompt.count("[") - 1, "each role stands in brackets too"


@ONE_PROCESS
def test_the_marker_selects_subjects(project: Project) -> None:
    exams(project, options=', subjects=["law", "med*"]').run().assert_outcomes(passed=2)

    assert groups(project) == {"law": 5, "medicine": 4} or groups(project) == {"law": 4, "medicine": 5}
    assert {tuple(each["signature"]["subjects"]) for each in project.record()["outcomes"]} == {("law", "med*")}


@ONE_PROCESS
def test_the_command_line_selects_subjects_and_leaves_other_scenarios_alone(project: Project) -> None:
    exams(project).write(test_triage=TRIAGE)
    project.run("--puma-subject=law").assert_outcomes(passed=3)

    assert groups(project) == {"law": 9}
    assert {each["cell"]: each["samples"] for each in project.record()["outcomes"]} == {
        "exams-zero_shot@tiny": 9,
        "exams-few_shot_2@tiny": 9,
        "triage_jira-zero_shot@tiny": 4,
    }


def test_the_ini_file_and_a_run_spec_select_subjects(alone: Project) -> None:
    exams(alone)
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_subjects =\n    chess\n    med*\n")
    alone.run().assert_outcomes(passed=2)
    assert set(groups(alone)) == {"medicine", "chess"}


def test_a_run_spec_selects_subjects(alone: Project) -> None:
    exams(alone)
    hook = "from test_exams import Exams\n\ndef pytest_puma_scenarios():\n    return [Exams]\n"
    alone.write(conftest=YES + hook)
    spec = "scenario: exams\nadaptation: {strategy: zero_shot}\nsample_size: 4\nsubjects: [law]\n"
    (alone.pytester.path / "law.puma.yaml").write_text(spec, encoding="utf-8")
    alone.run("law.puma.yaml").assert_outcomes(passed=1)
    assert groups(alone) == {"law": 4}


@pytest.mark.parametrize(
    ("options", "arguments", "sentence"),
    [
        (
            ', subjects=["laws"]',
            [],
            "subject 'laws' matches no group of exams; did you mean 'law'? there are: chess, law",
        ),
        (
            "",
            ["--puma-subject=laws"],
            "subject 'laws' matches no group of exams; did you mean 'law'? there are: chess,",
        ),
        (
            "",
            ["--puma-subject=law,physics"],
            "--puma-subject: subject 'physics' matches no group of exams; there are: ",
        ),
        (", subjects=[]", [], "subjects is empty; expected at least one pattern"),
        (", subjects=3", [], "the marker's subjects is 3; expected a list of texts"),
    ],
)
@ONE_PROCESS
def test_a_subject_that_matches_nothing_is_an_error(
    project: Project, options: str, arguments: list[str], sentence: str
) -> None:
    result = exams(project, options=options).run(*arguments)
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.INTERNAL_ERROR}
    result.stdout.fnmatch_lines([f"*{sentence.replace('[', '[[]')}*"])


def test_subjects_that_no_scenario_takes_are_an_error(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-subject=law")
    assert result.ret != pytest.ExitCode.OK
    result.stdout.fnmatch_lines(["*--puma-subject law: no scenario of this run has groups; there are: triage_jira*"])


def test_a_group_with_too_few_examples_is_an_error_of_the_collection(alone: Project) -> None:
    result = exams(alone, chess=4).run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*scenario 'exams', group 'chess': 2 examples requested, 1 there that are not among*"])


def test_another_selection_is_named_beside_a_baseline(alone: Project) -> None:
    gate = ', gates=["accuracy >= baseline - 0.05"]'
    exams(alone, options=gate).run("--puma-update-baseline").assert_outcomes(passed=2)
    lines = (alone.pytester.path / "benchmarks" / "baselines" / "exams.answers.jsonl").read_text(encoding="utf-8")
    assert '"groups":{"subject":["' in lines
    result = alone.run("--puma-subject=law", "--puma-gate=accuracy >= baseline + 0.5")
    result.stdout.fnmatch_lines(["*on the 3 samples that both have*; changed since: the subjects*"])


def test_a_group_may_have_any_name(alone: Project) -> None:
    exams(alone)
    alone.pytester.makepyfile(conftest=YES)
    names = ["Health, Safety", "a=b, c", "p]q[r", "x, y=z"]
    rows = [f'{n},question {n},"{names[n % 4]}",{"yes" if n % 3 else "no"}' for n in range(24)]
    (alone.pytester.path / "exams.csv").write_text("\n".join(["id,text,subject,gold", *rows]), encoding="utf-8")
    gate = "exams: accuracy[subject=Health, Safety] >= 0.99"
    result = alone.run("--puma-strategy=zero_shot", "-k", "exams", f"--puma-gate={gate}", model=False)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*accuracy[[]subject=Health, Safety[]] 0.667* n=3 is under 0.99*"])


ABSENT = (
    "accuracy[subject=chess] >= 0.9",
    "accuracy[subject=chess] >= baseline - 0.1 !fail",
    "accuracy[subject=chess] > naive.majority !warn",
    "max(accuracy[subject=chess] over strategy) >= 0.1",
)


def test_gates_on_a_group_without_samples_fail(project: Project) -> None:
    exams(project)
    result = project.run("--puma-subject=law", "--puma-strategy=zero_shot", *(f"--puma-gate={gate}" for gate in ABSENT))
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*accuracy[[]subject=chess[]] has nothing to measure (n=0)*"])
    verdicts = [*project.record()["outcomes"][0]["verdicts"], *project.record()["verdicts"]]
    assert [(each["status"], each["fails"]) for each in verdicts] == [("FAIL", True)] * len(ABSENT)


def test_a_gate_on_a_group_that_no_row_has_is_an_error_of_the_collection(project: Project) -> None:
    result = exams(project, options=', gates=["accuracy[subject=Law] >= 0.1 !fail"]').run()
    assert result.ret not in {pytest.ExitCode.OK, pytest.ExitCode.INTERNAL_ERROR}
    result.stdout.fnmatch_lines(["*no row of exams has subject=Law; did you mean 'law'? there are: chess, law, med*"])
