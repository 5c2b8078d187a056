"""Places that request perturbations: command line, ini file, marker, run-spec, hook."""

from __future__ import annotations

import pytest

from tests.integration.conftest import ONE_PROCESS, TRIAGE, Project


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        (
            "typo_5pct",
            "perturbation 'typo_5pct' is unknown; did you mean 'typos_5pct'? there are: typos_5pct, case_upper, *",
        ),
        ("typos_0pct", "perturbation 'typos_0pct': the share is 0 %; expected typos_Npct with N from 1 to 100"),
        ("case_upper,", "--puma-perturb case_upper,*: found an empty name; expected names separated by commas"),
    ],
)
@ONE_PROCESS
def test_a_wrong_name_is_an_error_before_anything_runs(project: Project, option: str, problem: str) -> None:
    project.write(test_triage=TRIAGE)
    result = project.run(f"--puma-perturb={option}")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: puma: {problem.replace('--puma-perturb ', '--puma-perturb *')}"])


def test_a_wrong_name_in_the_ini_file_or_a_marker_is_an_error_too(alone: Project) -> None:
    alone.write(test_triage=TRIAGE.replace("samples=8", "perturb=['nose']"))
    result = alone.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*perturbation 'nose' is unknown; *"])
    alone.pytester.makeini("[pytest]\npuma_perturb =\n    case_upper\n    nose")
    result = alone.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: puma: perturbation 'nose' is unknown; *"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("'shouted'", "found 'shouted'; expected a list"),
        ("['shouted']", "found 'shouted'; expected Perturbations named like 'my_own'"),
        ("[Perturbation(name='Too Loud', change=None)]", "found Perturbation(name='Too Loud'*"),
        ("[Perturbation(name='typos_7pct', change=None)]", "the name 'typos_7pct' is taken; rename yours"),
        ("[Perturbation(name='none', change=None)]", "the name 'none' is taken; rename yours"),
        ("[Perturbation(name='own', change=None)] * 2", "the name 'own' is taken; rename yours"),
    ],
)
def test_wrong_values_from_a_hook_are_errors(alone: Project, given: str, message: str) -> None:
    hook = f"from pytest_puma import Perturbation\ndef pytest_puma_perturbations(): return {given}"
    alone.write(conftest=hook, test_triage=TRIAGE)
    result = alone.run("--puma-perturb=case_upper")
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"ERROR: puma: hook pytest_puma_perturbations: {message}"])


def test_the_command_line_wins_over_the_marker_and_the_marker_over_the_ini_file(alone_moody: Project) -> None:
    alone_moody.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_perturb = case_upper")
    other = TRIAGE.replace("samples=8", "samples=8, perturb=['case_lower']").replace("zero_shot", "one_shot")
    alone_moody.write(test_other=other)
    output: dict[str | None, list[str | None]] = {
        None: [None, "case_lower", None, "case_upper"],
        "none": [None, None],
        "random_case": [None, "random_case", None, "random_case"],
    }
    for option, names in output.items():
        alone_moody.run(*([] if option is None else [f"--puma-perturb={option}"])).assert_outcomes(passed=len(names))
        assert [outcome["perturbation"] for outcome in alone_moody.record()["outcomes"]] == names
        folder = alone_moody.pytester.path / ".puma"
        folder.rename(folder.with_name(f"before_{option}"))


def test_a_run_spec_asks_for_them_as_puma_does(alone_moody: Project) -> None:
    (alone_moody.pytester.path / "test_triage.py").unlink()
    spec = (
        "scenario: triage_jira\nsample_size: 4\nadaptation: {strategy: zero-shot}\nperturbations: [none, case_upper]\n"
    )
    (alone_moody.pytester.path / "triage.puma.yaml").write_text(spec, encoding="utf-8")
    alone_moody.run("triage.puma.yaml").assert_outcomes(passed=2)
    assert alone_moody.cell_ids() == ["triage_jira-zero_shot@tiny", "triage_jira-zero_shot+case_upper@tiny"]


def test_a_part_of_the_cells_may_be_picked_and_without_its_twin_one_has_nothing_to_tell(alone_moody: Project) -> None:
    result = alone_moody.run("--puma-perturb=case_upper,case_lower", "-k", "zero_shot+case_upper")
    result.assert_outcomes(passed=1, deselected=2)
    result.stdout.no_fnmatch_line("*puma: perturbations*")
    assert alone_moody.record()["robustness"] == []
