"""`--puma-rescore` of a part of a run, of chosen samples, and of a cell that ended early."""

from __future__ import annotations

from tests.integration.benchmark_files import TRIAGE
from tests.integration.conftest import INI, Project
from tests.integration.past_runs import earlier, lines_of


def test_samples_and_strategies_are_those_of_the_run(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    options = ("--puma-samples=11", "--puma-seed=7", "--puma-strategy=few_shot_3,option_scoring")
    alone.run(*options, "--puma-perturb=case_lower", model=False).assert_outcomes(passed=4)
    before = earlier(alone)
    alone.run(f"--puma-rescore={before}", model=False).assert_outcomes(passed=4)
    assert lines_of(alone.folder) == lines_of(before)


def test_the_command_line_selects_a_part_of_the_run(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run("--puma-samples=20", "--puma-strategy=zero_shot,egi", model=False).assert_outcomes(passed=2)
    before = earlier(alone)
    options = ("--puma-samples=10", "--puma-strategy=egi")
    alone.run(f"--puma-rescore={before}", *options, model=False).assert_outcomes(passed=1)
    (outcome,) = alone.record()["outcomes"]
    assert (outcome["strategy"], outcome["samples"]) == ("egi", 10)


def test_cells_that_the_run_does_not_have_are_deselected(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run(model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    alone.write(test_points=TRIAGE.replace("triage_jira", "estimation_tawos").replace("accuracy >= 0.1", "mae <= 99"))
    alone.run(f"--puma-rescore={before}", model=False).assert_outcomes(passed=1, deselected=1)


def test_a_gate_on_a_strategy_that_the_run_does_not_have_is_not_for_its_cells(alone: Project) -> None:
    gated = TRIAGE.replace('"accuracy >= 0.1"', '"triage_jira-zero_shot: accuracy >= 0.1"')
    alone.write(test_triage=gated)
    alone.run("--puma-strategy=egi", model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    alone.pytester.makeini(f"{INI}puma_gates = *-zero_shot: accuracy >= 0.2\n")
    result = alone.run(f"--puma-rescore={before}", model=False)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["not run: gate '[*]-zero_shot: accuracy >= 0.2' fits no cell of this run"])
    alone.write(test_triage=gated.replace("zero_shot: ", "zero_shott: "))
    result = alone.run(f"--puma-rescore={before}", model=False)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*no strategy is called 'zero_shott'; did you mean 'zero_shot'*"])


def test_a_cell_ends_as_early_as_in_the_run(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    options = ("--puma-samples=200", "--puma-stop-early", "--puma-gate=accuracy <= 0.9")
    alone.run(*options, model=False).assert_outcomes(passed=1)
    before = earlier(alone)
    assert len(lines_of(before)) < 200
    alone.run(f"--puma-rescore={before}", *options[1:], model=False).assert_outcomes(passed=1)
    assert lines_of(alone.folder) == lines_of(before)
