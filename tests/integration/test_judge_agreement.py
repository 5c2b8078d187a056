"""Labels of people beside the verdicts of a judge."""

from __future__ import annotations

from tests.integration.conftest import ONE_PROCESS, Project
from tests.integration.judging import CONFTEST, lines, newest, run
from tests.integration.knowing_model import refused, write_rows

LETTERS = """
import pytest
from pytest_puma import CompletionScenario

class Letters(CompletionScenario):
    name = "letters"
    data = "letters.jsonl"
    key = "id"

    def instruction(self, item):
        return item["complaint"]

    def truth(self, item):
        return None

    scores = ("judge.calm",)

@pytest.mark.puma(Letters, strategies=["zero_shot"], samples=8, gates=["judge.calm >= 0.1"])
def test_letters(puma):
    pass
"""


def letters(project: Project, *labels: str) -> None:
    """People call a reply about a crash calm; the moody judge does not."""
    rows = [
        {
            "id": str(n),
            "complaint": f"A {'crash' if n % 2 else 'typo'} {n}",
            "human_reply": "Major",
            "human_label": label,
        }
        for n, label in enumerate(labels)
    ]
    write_rows(project, "letters.jsonl", *rows)
    project.write(conftest=CONFTEST, test_letters=LETTERS)


@ONE_PROCESS
def test_the_agreement_with_people_is_shown_with_its_interval_and_counts(project: Project) -> None:
    letters(project, "yes", "yes", "yes", "no", "yes", "no", "yes", "")
    result = run(project, "moody")
    result.stdout.fnmatch_lines(["*warning: *judge.calm: this judge agrees with people by a kappa of 0.696 [[]-*"])
    line = "*judge.calm.agreement of letters-zero_shot@tested: kappa 0.696* with 7 labels; people-judge: yes-yes 4, "
    result.stdout.fnmatch_lines([f"{line}yes-no 1, no-no 2*"])
    result.stdout.no_fnmatch_line("*never compared with people*")
    (outcome,) = newest(project)
    assert outcome["measures"]["judge.calm.agreement"]["n"] == 7


@ONE_PROCESS
def test_one_verdict_for_all_labelled_replies_is_remarked(project: Project) -> None:
    letters(project, *["yes", "no"] * 4)
    one = "*warning: *judge.calm: this judge gave all 8 labelled replies one verdict, 'yes'; "
    result = run(project, "kind")
    result.stdout.fnmatch_lines(
        [f"{one}this makes kappa 0, whatever people say, so nothing shows that it tells good *"]
    )
    letters(project, *["yes"] * 8)
    run(project, "kind").stdout.fnmatch_lines([f"{one}people did the same, so nothing shows that it tells good *"])


@ONE_PROCESS
def test_a_labelled_reply_that_is_that_of_the_model_is_judged_once(project: Project) -> None:
    letters(project, *["yes"] * 8)
    rows = (project.pytester.path / "letters.jsonl").read_text(encoding="utf-8")
    (project.pytester.path / "letters.jsonl").write_text(rows.replace('"Major"', '"Minor"', 1), "utf-8")
    run(project, "kind").assert_outcomes(passed=1)
    (outcome,) = newest(project)
    assert (outcome["measures"]["judge.calm"]["n"], outcome["measures"]["judge.calm.agreement"]["n"]) == (8, 8)
    asked = lines(project, "asked.txt").count("kind")
    assert asked == 2 * 8 + 2, "reasons and a verdict for each reply, and for the labelled one that is another"
    run(project, "kind").stdout.fnmatch_lines(["kept answers of judges: all 18 of 1 cell, from run *"])


@ONE_PROCESS
def test_a_gate_on_a_judge_without_labels_is_remarked_or_refused(project: Project) -> None:
    letters(project, *[""] * 8)
    result = run(project, "kind")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*warning: *judge.calm: this judge was never compared with people; label some*"])
    project.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_judge_agreement = required\n")
    assert "a gate limits judge.calm, and no sample has a label of people, which the ini key puma_judge_agreement" in (
        refused(project, f"--puma-judge=kind={project.model}")
    )


@ONE_PROCESS
def test_a_gate_on_agreement_without_labels_names_the_column_that_is_expected_and_those_found(project: Project) -> None:
    letters(project, *["yes"] * 8)
    rows = (project.pytester.path / "letters.jsonl").read_text(encoding="utf-8")
    (project.pytester.path / "letters.jsonl").write_text(rows.replace("human_label", "human_label_clam"), "utf-8")
    judge = f"--puma-judge=kind={project.model}"
    text = "expected a column 'human_label_calm' or 'human_label'; found 'human_label_clam'"
    assert f"a gate limits judge.calm.agreement, and no sample has a label of people; {text}" in (
        refused(project, judge, "--puma-gate=judge.calm.agreement >= 0.6")
    )
    result = run(project, "kind")
    result.stdout.fnmatch_lines(["*never compared with people; label some replies in a column 'human_label_calm' or*"])


@ONE_PROCESS
def test_labels_of_new_replies_are_remarked(project: Project) -> None:
    letters(project, *["yes"] * 4, *["no"] * 4)
    rows = (project.pytester.path / "letters.jsonl").read_text(encoding="utf-8")
    (project.pytester.path / "letters.jsonl").write_text(rows.replace("human_reply", "human_replies"), "utf-8")
    result = run(project, "kind")
    result.stdout.fnmatch_lines(
        ["*warning: *judge.calm: no row has the reply that people labelled, in a column 'human_*"]
    )


@ONE_PROCESS
def test_labels_that_were_not_drawn_are_counted_in_one_line(project: Project) -> None:
    letters(project, *["yes", "no"] * 4, "", "", "yes")
    line = "warning: letters-zero_shot@tested: {} rows with labels of people were not drawn, *--puma-samples all *"
    gate = ("--puma-gate=judge.brief >= 0",)
    run(project, "kind", options=("--puma-samples=5", *gate)).stdout.re_match_lines_random(
        [line.format(r"[4-6] of 9").replace("*", ".*")]
    )
    for samples in ("11", "all", "50"):
        drawn = run(project, "kind", options=(f"--puma-samples={samples}", *gate))
        drawn.stdout.no_fnmatch_line("*were not drawn*")


@ONE_PROCESS
def test_a_label_that_is_no_verdict_is_refused_before_a_model_is_loaded(project: Project) -> None:
    letters(project, "yes", "impolite", *["no"] * 6)
    text = refused(project, f"--puma-judge=kind={project.model}")
    assert "sample '1' has the label 'impolite' for the rubric 'calm'; expected one of 'yes, no'" in text
    assert not (project.pytester.path / "opened.txt").exists()


@ONE_PROCESS
def test_too_many_unreadable_verdicts_fail_a_gate_whatever_its_value(project: Project) -> None:
    letters(project, *[""] * 8)
    short = 'context_limit=1200 if model.name == "kind" else 10**6, digest='
    project.write(conftest=CONFTEST.replace("digest=", short))
    rows = [{"id": str(n), "complaint": "help " * (1 if n else 200)} for n in range(8)]
    write_rows(project, "letters.jsonl", *rows)
    result = run(project, "kind")
    result.assert_outcomes(failed=1)
    reason = "*but 12% of the judge's verdicts are unreadable (at most 5% may be)"
    result.stdout.fnmatch_lines([reason, f"FAILED *letters-zero_shot@tested] - judge.calm {reason}"])
