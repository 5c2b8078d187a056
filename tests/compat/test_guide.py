"""The example of eval-framework's guide in a run of pytest, with scripted answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.compat.geography import TASK, write_splits
from tests.integration.conftest import INI, Project

MARKER = """
import pytest

@pytest.mark.puma({task}, strategies=["few_shot_3"], {options})
def test_geography(puma):
    pass
"""

ANSWERS = """
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({"Italy": "A: Rome.", "France": "A: Paris.", "Japan": "A: Tokyo."}, default="A: A: Berlin.")
"""


@pytest.fixture
def project(pytester: pytest.Pytester, gguf: Path) -> Project:
    # The warnings of this process are errors, those of a user are shown.
    pytester.makeini(f"{INI}filterwarnings = default\n")
    return Project(pytester, gguf, 0)


def written(project: Project, *, task: str = "GeographyQATask", options: str = "", source: str = TASK) -> Project:
    project.write(test_geography=source + MARKER.format(task=task, options=options), conftest=ANSWERS)
    return project


def test_it_runs_and_its_truths_lose_the_cue_with_a_warning(project: Project) -> None:
    write_splits(project.pytester.path / "example" / "geography_qa")
    result = written(project, options="gates=['exact_match[subject=Europe] >= 0.3']").run()
    result.assert_outcomes(passed=1, warnings=1)
    result.stdout.fnmatch_lines(["*GeographyQATask: the ground truth 'A: *.' begins with the cue 'A:'*"])
    right = {each["gold"] for each in project.predictions() if each["scores"]["exact_match"] == 1}
    assert right == {"Rome.", "Paris.", "Tokyo."}
    measures = project.record()["outcomes"][0]["measures"]
    assert measures["exact_match"]["value"] == pytest.approx(3 / 12)
    assert measures["exact_match[subject=Europe]"]["value"] == pytest.approx(2 / 6)


def test_two_workers_measure_the_same(project: Project) -> None:
    write_splits(project.pytester.path / "example" / "geography_qa")
    Project(written(project).pytester, project.model, 2).run().assert_outcomes(passed=1, warnings=2)
    assert project.record()["outcomes"][0]["measures"]["exact_match"]["value"] == pytest.approx(3 / 12)


def test_a_hook_makes_its_name_known_and_its_data_may_be_elsewhere(project: Project) -> None:
    write_splits(project.pytester.path / "elsewhere")
    hook = "from tasks import GeographyQATask\n\ndef pytest_puma_scenarios():\n    return [GeographyQATask]\n"
    project.write(
        tasks=TASK,
        conftest=f"{hook}\n{ANSWERS}",
        test_geography=MARKER.format(task="'geography_qa'", options=""),
    )
    project.run("--puma-data=geography_qa=elsewhere").assert_outcomes(passed=1, warnings=1)
    assert project.record()["outcomes"][0]["signature"]["data"]["file"] == "elsewhere/test.jsonl"


def test_data_that_are_nowhere_are_a_collection_error(project: Project) -> None:
    result = written(project).run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*DATASET_PATH is 'example/geography_qa'; found no such file or folder*"])


def test_a_perturbation_changes_the_question_and_not_a_protected_word(project: Project) -> None:
    write_splits(project.pytester.path / "example" / "geography_qa")
    protected = TASK.replace("    SUBJECTS =", '    PERTURBATION_UNMODIFIABLE_WORDS = ["Italy"]\n    SUBJECTS =')
    written(project, source=protected).run("--puma-perturb=typos_20pct").assert_outcomes(passed=2, warnings=1)
    countries = {each["fields"]["country"] for each in project.predictions() if "+" in each["cell"]}
    assert "Italy" in countries
    assert not {"Germany", "Portugal", "Indonesia", "Hungary"} <= countries


LONE_STOP = """
    def __init__(self, num_fewshot=0):
        super().__init__(num_fewshot)
        self.stop_sequences = "es"

"""


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("[AccuracyCompletion]", "['AcuracyCompletion']", "*METRICS has AcuracyCompletion; *did you mean*"),
        ('["Europe", "Asia"]', '["Europe", "Azia"]', "*no row of the subject 'Azia'; did you mean 'Asia'*"),
        ('SAMPLE_SPLIT = "test"', 'SAMPLE_SPLIT = "tests"', "*no file of the split 'tests'*"),
        ("item['country']", "item['land']", "*failed with KeyError('land'); the row has: country, capital, subject*"),
        ("self.num_fewshot)", "self.num_fewshot - 1)", "*_sample_fewshot_examples returned 2 rows; expected 3*"),
        (
            "    SUBJECTS =",
            f"{LONE_STOP}    SUBJECTS =",
            "*stop is the text 'es', which Python reads letter by letter*",
        ),
        ("self.dataset[self.FEWSHOT_SPLIT]", "self.dataset[self.SAMPLE_SPLIT]", "*evaluated*"),
    ],
)
def test_a_fault_of_the_author_is_a_collection_error(project: Project, before: str, after: str, message: str) -> None:
    write_splits(project.pytester.path / "example" / "geography_qa")
    assert before in TASK
    result = written(project, source=TASK.replace(before, after)).run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines([message])
