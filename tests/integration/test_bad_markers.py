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
    "of a parameter": (
        """
MARK = pytest.mark.puma("triage_jira", gates=["accuracy >= 1"])

@pytest.mark.parametrize("x", [pytest.param(1, marks=MARK), pytest.param(2, marks=MARK)])
def test_x(x): pass
""",
        "puma: test_bad.py::test_x: has the puma marker, but from pytest.param or from add_marker, *; expected *",
    ),
    "of a parameter, and of the function": (
        """
@pytest.mark.puma("triage_jira")
@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.puma("estimation_tawos"))])
def test_x(puma, x): pass
""",
        "puma: test_bad.py::test_x: has the puma marker, but from pytest.param or from add_marker, *; expected *",
    ),
    "of a parameter of a fixture": (
        """
@pytest.fixture(params=[pytest.param(1, marks=pytest.mark.puma("triage_jira"))])
def x(request): return request.param

def test_x(x): pass
""",
        "puma: test_bad.py::test_x: has the puma marker, but from pytest.param or from add_marker, *; expected *",
    ),
    "of a class without the argument": (
        "@pytest.mark.puma('triage_jira')\nclass TestX:\n    def test_x(self): pass",
        "*test_bad.py::TestX: has the puma marker, but none of its tests has the argument puma; expected one*",
    ),
    "of a module without the argument": (
        "pytestmark = pytest.mark.puma('triage_jira')\ndef test_x(): pass",
        "*test_bad.py: has the puma marker, but none of its tests has the argument puma; expected one*",
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


ADDED = """
import pytest

@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.puma("triage_jira", gates=["accuracy >= 1"]))
"""


def test_a_marker_that_a_hook_adds_is_no_green_run(scripted: Project) -> None:
    scripted.write(test_x="def test_x(): pass\ndef test_y(): pass", conftest=ADDED)
    result = scripted.run()
    assert result.ret == (1 if scripted.workers else 2)
    result.stdout.fnmatch_lines(["puma: test_x.py::test_x: has the puma marker, *", "puma: test_x.py::test_y: has *"])


APPLIED = """
import pytest

MARK = pytest.mark.puma("triage_jira", gates=["accuracy >= 1"])

@pytest.fixture
def applied(request):
    request.applymarker(MARK)

def test_x(applied): pass
def test_y(request): request.node.add_marker(MARK)
"""


def test_a_marker_that_comes_while_a_test_runs_fails_it(alone: Project) -> None:
    alone.write(test_x=APPLIED)
    result = alone.run()
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["puma: the puma marker came while the test ran, where it makes no cells"])


def test_a_cell_cannot_be_requested_by_a_running_test(alone: Project) -> None:
    source = "import pytest\n@pytest.mark.puma('triage_jira')\nclass TestX:\n    def test_x(self, puma): pass\n"
    alone.write(test_x=f"{source}    def test_y(self, request): request.getfixturevalue('puma')")
    result = alone.run("-k", "test_y")
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(["puma: the fixture puma was requested while a test without cells runs; expected *"])
