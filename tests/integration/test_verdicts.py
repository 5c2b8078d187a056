from tests.integration.conftest import INI, SCRIPTED, TRIAGE, Project

GATED = """
import pytest

@pytest.mark.puma("triage_jira", strategies=["zero_shot"], samples=8, gates=["f1_macro >= 0.45", "accuracy >= 0.2"])
def test_triage(puma):
    pass
"""


def test_a_missed_gate_fails_the_item_with_its_sentence_and_the_misses(scripted: Project) -> None:
    scripted.write(test_triage=GATED)
    result = scripted.run()
    assert result.ret == 1
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "f1_macro 0.1 * n=8 is under 0.45*",
            "*the worst 5 of 6 misses:*",
            "*answered Major, gold is *",
            "*prompt * ... *",
            "*raw *'Major'*",
            "predictions: *",
            "reproduce: pytest 'test_triage.py::test_triage[[]triage_jira-zero_shot@tiny[]]' *--puma-model=*",
            "accept: change the gate where it is written (*): f1_macro >= 0.45",
        ]
    )
    result.stdout.no_fnmatch_line("*Traceback*")


def test_kept_gates_pass_although_the_body_asserts_nothing(alone: Project) -> None:
    alone.write(test_triage=GATED.replace("0.45", "0.05"))
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["triage_jira*PASS*"])


def test_a_failing_body_shows_the_gates_too(scripted: Project) -> None:
    scripted.write(test_triage=GATED.replace("pass\n", "assert puma['accuracy'] > 0.9\n"))
    result = scripted.run()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*assert 0.25 > 0.9*", "*f1_macro 0.1 * is under 0.45*"])


def test_xfail_covers_a_missed_gate(scripted: Project) -> None:
    scripted.write(test_triage=GATED.replace("@pytest", "@pytest.mark.xfail\n@pytest", 1))
    scripted.run().assert_outcomes(xfailed=1)


def test_a_gate_of_the_command_line_holds_for_the_cells_it_fits(alone: Project) -> None:
    alone.write(test_triage=TRIAGE, test_points=TRIAGE.replace("triage_jira", "estimation_tawos"))
    result = alone.run("--puma-gate", "triage_jira: f1_macro >= 0.9", "--puma-gate", "mae <= 1000")
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["f1_macro*is under 0.9*"])


NEVER_TAKEN = {
    "triage-jira: f1_macro >= 0.9": "no scenario is called 'triage'; did you mean 'triage_jira'? there are: *",
    "zero_shot: f1_macro >= 0.9": "no scenario is called 'zero_shot'; for this strategy of any scenario write '*'",
    "tiny: f1_macro >= 0.9": "no scenario is called 'tiny'; for this model write '[*]@tiny'",
    "f1_makro >= 0.1": "no scenario has the metric 'f1_makro'; did you mean 'f1_macro'? there are: *",
    "triage_jira-few_shots: accuracy >= 0": "no strategy is called 'few_shots'; did you mean 'few_shot_*'? there *",
    "*@tini: accuracy >= 0": "no model of this run is called 'tini'; did you mean 'tiny'? there are: tiny",
    "triage_jira-egi: accuracy >= 0": "it matches no collected cell; there are: triage_jira-zero_shot@tiny",
    "estimation_tawos: mae <= 3": "it matches no collected cell; there are: triage_jira-zero_shot@tiny",
    "egi.accuracy > zero_shot.accuracy": "it matches no collected cell; there are: triage_jira-zero_shot@tiny",
}


def test_gates_that_no_cell_can_take_are_refused_before_anything_runs(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    gates = [f"--puma-gate={gate}" for gate in NEVER_TAKEN]
    result = scripted.run(*gates, "--puma-gate=triage_jira-zero-shot: accuracy >= 0", "-k", "zero")
    # xdist goes on after an error in the collection, to the tests that are left: here none.
    assert result.ret == (1 if scripted.workers else 2)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"puma: gate '{gate}': {fault}" for gate, fault in NEVER_TAKEN.items()])


def test_a_gate_of_the_ini_file_may_be_about_tests_that_were_not_collected(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE)
    elsewhere = ("estimation_tawos: mae <= 3", "mood: smiles >= 1")
    scripted.pytester.makeini(f"{INI}puma_gates = {elsewhere[0]}\n    {elsewhere[1]}\n")
    result = scripted.run("test_triage.py")
    assert result.ret == 0
    result.stdout.fnmatch_lines([f"not run: gate '{gate}' fits no cell of this run" for gate in elsewhere])
    if scripted.workers:
        return
    scripted.pytester.makeini(f"{INI}puma_gates = {elsewhere[1]}\npuma_models = {scripted.model}\n")
    result = scripted.run(model=False)
    assert result.ret == 2, "all tests were collected"
    result.stdout.fnmatch_lines(["*'mood: smiles >= 1': no scenario is called 'mood'; there are: *"])
    scripted.pytester.makeini(f"{INI}puma_gates = f1_makro >= 0.1\n")
    assert scripted.run("test_triage.py").ret == 2, "no test has such a metric"


def test_a_gate_on_a_measure_that_the_strategy_does_not_give_is_shown_as_not_run(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-gate", "triage_jira: ece <= 0.1")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*8 * f1_macro *", "* ece *-*NOT RUN*", "not run: triage_jira-zero_shot@tiny: ece*"])


def test_the_run_is_forgotten_by_lf_once_it_passes(alone: Project) -> None:
    alone.write(test_triage=TRIAGE, conftest=SCRIPTED + LOSSY)
    assert alone.run().ret == 1
    alone.write(conftest=SCRIPTED)
    assert alone.run().ret == 0
    result = alone.run("--lf")
    result.stdout.no_fnmatch_line("*known failures*")


def test_a_missed_gate_is_a_failure_in_junit_xml(scripted: Project) -> None:
    scripted.write(test_triage=GATED)
    scripted.run("--junitxml", "out.xml")
    text = (scripted.pytester.path / "out.xml").read_text(encoding="utf-8")
    assert 'failures="1"' in text
    assert "is under 0.45" in text


def test_an_engine_fault_is_an_error_and_not_a_wrong_answer(scripted: Project) -> None:
    scripted.write(
        conftest="""
from pytest_puma.core import EngineError
from pytest_puma.testing import ScriptedBackend

class Broken(ScriptedBackend):
    def decode(self, steps):
        raise EngineError("the GPU fell off")

def pytest_puma_backend(model):
    return Broken({})
""",
        test_triage=GATED,
    )
    result = scripted.run()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*the GPU fell off*"])
    (fault,) = scripted.record()["faults"]
    assert (fault["when"], fault["message"]) == ("setup", "the GPU fell off")


def test_unreadable_answers_are_counted_and_warned_about(alone: Project) -> None:
    alone.write(
        conftest="""
from pytest_puma.testing import ScriptedBackend

def pytest_puma_backend(model):
    return ScriptedBackend({}, default="no idea")
""",
        test_triage=TRIAGE,
    )
    result = alone.run()
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(
        [
            "*triage_jira*100%*",
            "warning: *8 of 8 replies could not be parsed (8 unparsed); the scores are not meaningful",
        ]
    )


LOSSY = """
import pytest

@pytest.hookimpl(tryfirst=True, wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    report.__dict__.pop("puma", None)
    return report
"""


def test_a_cell_that_never_arrives_fails_the_run(scripted: Project) -> None:
    scripted.write(test_triage=TRIAGE, conftest=SCRIPTED + LOSSY)
    result = scripted.run()
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*was planned, but no outcome of it arrived*"])


def test_stopping_at_the_first_failure_judges_no_run(alone: Project) -> None:
    alone.write(test_triage=GATED)
    alone.pytester.makeini(f"{INI}puma_gates = *@other: accuracy >= 0\n")
    result = alone.run("-x", "--puma-strategy", "zero_shot,rcoif")
    result.assert_outcomes(failed=1)
    result.stdout.no_fnmatch_line("*fits no cell*")
    result.stdout.fnmatch_lines(["triage_jira*FAIL*"])
