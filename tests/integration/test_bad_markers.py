"""Wrong markers: a collection error with one sentence."""

import pytest

from tests.integration.conftest import Project

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
    "unknown scenario": (
        "@pytest.mark.puma('triag')\ndef test_x(puma): pass",
        "*scenario 'triag' is unknown; did you mean 'triage_jira'? *",
    ),
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
        "*zero_shot@tiny is requested by *::test_x too, with different settings: samples 50 there and 3 here; *",
    ),
    "one id, two temperatures": (
        """
@pytest.mark.puma('triage_jira', strategies=['zero_shot'])
def test_x(puma): pass

@pytest.mark.puma('triage_jira', strategies=['zero_shot'], temperature=0.7)
def test_y(puma): pass
""",
        "*zero_shot@tiny is requested by *::test_x too, with different settings: temperature 0.0 there and 0.7 here; *",
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
        "*zero_shot@tiny is requested by *::test_x too, with different settings: data a.csv (*) there and b.csv (*",
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
