"""`--puma-perturb`: the same cells under changed texts, and the reports about them."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.conftest import TRIAGE, Project

GENDERS = "gender_swap_prefix_male,gender_swap_prefix_female"


def _rows(text: str) -> list[list[str]]:
    """The cells of a Markdown table below the heading of the perturbations."""
    table = text.partition("#### perturbations\n\n")[2].partition("\n\n")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table[2:]]


def test_changes_have_a_table_of_their_own_and_are_in_json_and_markdown(moody: Project) -> None:
    result = moody.run(f"--puma-perturb=case_upper,{GENDERS}", "--puma-perturb=shouted", "--puma-report=md:run.md")
    result.assert_outcomes(passed=5)
    plain, *perturbed = moody.cell_ids()
    assert plain == "triage_jira-zero_shot@tiny"
    assert perturbed == [
        f"triage_jira-zero_shot+{name}@tiny" for name in ("case_upper", *GENDERS.split(","), "shouted")
    ]
    result.stdout.fnmatch_lines(
        [
            "triage_jira *zero_shot *tiny *8 *f1_macro *0.1[*] *",
            "triage_jira *zero_shot+case_upper *tiny *8 *f1_macro *0[*] *100% *",
            "*= puma: perturbations =*",
            "triage_jira *zero_shot *tiny *case_upper *f1_macro *0 *-0.1 *100% *[[]0.676, 1.00][*] *0% *25% *75%",
            " *gender_swap_prefix_male *f1_macro *0.1 *0 *",
            "worst: triage_jira-zero_shot@tiny: f1_macro is 0 under case_upper, 0.1 without (*: 0 of 4; 0% [[]0, *",
            "gap: triage_jira-zero_shot@tiny: gender: f1_macro of *_male minus that of *_female is 0 [[]*] n=8",
        ]
    )
    (robustness,) = moody.record()["robustness"]
    shifts: dict[str, Any] = {shift["perturbation"]: shift for shift in robustness["shifts"]}
    changes = {name: [shift["answer_changes"][key] for key in KEYS] for name, shift in shifts.items()}
    assert changes["case_upper"] == changes["shouted"] == [0, 2, 6]
    assert changes["gender_swap_prefix_male"] == [0, 0, 0]
    assert changes["gender_swap_prefix_female"] == [2, 2, 4]
    assert (robustness["worst"], robustness["worst_value"], robustness["always_right"]["value"]) == ("case_upper", 0, 0)
    (gap,) = robustness["gaps"]
    assert (gap["axis"], gap["change"]["worse"], gap["change"]["better"]) == ("gender", 2, 2)
    text = (moody.pytester.path / "run.md").read_text(encoding="utf-8")
    assert [row[3] for row in _rows(text)] == list(shifts)
    assert _rows(text)[0][9:] == ["100%", "[0.676, 1.00]\\*", "0%", "25%", "75%"]
    assert "- worst: `triage_jira-zero_shot@tiny`: f1_macro is 0 under case_upper" in text


def test_a_perturbation_that_changes_no_prompt_is_not_run(alone: Project) -> None:
    """In place of "flips 0 %", which would praise a model for what it never saw."""
    folder = alone.pytester.path / "prompts" / "triage_jira"
    folder.mkdir(parents=True)
    (folder / "zero_shot.jinja").write_text("Critical, Major, Minor or Trivial? {{ title }}", encoding="utf-8")
    alone.write(test_triage=TRIAGE)
    result = alone.run("--puma-perturb=label_order,case_upper", "-rs", "--puma-report=md:run.md")

    result.assert_outcomes(passed=2, skipped=1)
    assert result.ret == 0
    lines = "triage_jira-zero_shot+label_order@tiny: label_order changed no prompt, *"
    result.stdout.fnmatch_lines([f"not run: {lines}", f"SKIPPED *puma: {lines}"])
    record = alone.record()
    assert [shift["perturbation"] for shift in record["robustness"][0]["shifts"]] == ["case_upper"]
    assert record["problems"] == []
    (why,) = record["unchanged"]
    markdown = (alone.pytester.path / "run.md").read_text(encoding="utf-8")
    assert f"- not run: {why}" in markdown.replace("\\", "").replace("`", "")


KEYS = ("fixed", "broken", "still_wrong")


def test_old_gates_are_kept_and_those_with_a_plus_are_judged(alone_moody: Project) -> None:
    result = alone_moody.run(
        "--puma-perturb=case_upper,case_lower",
        "--puma-gate=accuracy >= 0.2",
        "--puma-gate=triage_jira: parse_failure_rate <= 0",
        "--puma-gate=max(accuracy over strategy) >= 0.2",
        "--puma-gate=*+case_*: accuracy >= 0.2",
    )
    result.assert_outcomes(passed=2, failed=1)  # the kept gate on several cells is a test in JUnit XML alone
    assert result.ret == 1
    result.stdout.fnmatch_lines(["accuracy 0 * is under 0.2;*"])
    assert len(alone_moody.record()["verdicts"]) == 1


def test_every_text_of_a_pair_is_changed(alone_moody: Project) -> None:
    alone_moody.write(test_triage=TRIAGE.replace("triage_jira", "prioritization_jira"))
    alone_moody.run("--puma-perturb=case_upper,case_lower").assert_outcomes(passed=3)
    answers: dict[str, set[str]] = {}
    for each in alone_moody.predictions():
        answers.setdefault(each["cell"].partition("@")[0].partition("-")[2], set()).add(each["answer"])
    assert answers == {"zero_shot": {"A"}, "zero_shot+case_upper": {"B"}, "zero_shot+case_lower": {"A"}}
    (result,) = alone_moody.record()["robustness"]
    assert (result["metric"], result["shifts"][0]["answer_changes"]["rate"]["value"]) == ("accuracy", 1)


def test_real_answers_are_the_same_with_and_without_workers(project: Project) -> None:
    project.write(test_triage=TRIAGE.replace("samples=8", "samples=4"))
    arguments = ("--puma-perturb=typos_30pct,label_order", "--puma-threads=1")
    project.run(*arguments).assert_outcomes(passed=3)
    first, measured = project.predictions(), project.record()["robustness"]
    (project.pytester.path / ".puma").rename(project.pytester.path / "first")
    project.run(*arguments, *(["-n", "0"] if project.workers else [])).assert_outcomes(passed=3)
    assert (project.predictions(), project.record()["robustness"]) == (first, measured)


def test_trivial_programs_stand_once_below_the_scenario(alone_moody: Project) -> None:
    alone_moody.pytester.makeini("[pytest]")
    result = alone_moody.run("--puma-perturb=case_upper", "--puma-samples=16")
    result.assert_outcomes(passed=2)
    named = [line.split()[1] for line in result.outlines if line.startswith("triage_jira ")]
    programs = ["naive.majority", "naive.guess", "naive.tfidf"]
    assert named == ["zero_shot", "zero_shot+case_upper", *programs, "zero_shot"]


def test_a_plan_tells_each_of_them(alone: Project) -> None:
    alone.write(conftest="", test_triage=TRIAGE)
    result = alone.run("--puma-plan", "--puma-perturb=tech_noise,truncate_80pct")
    tokens = {
        line.split()[0].partition("@")[0]: int(line.split()[2].replace(",", ""))
        for line in result.outlines
        if line.startswith("triage_jira-")
    }
    plain, noisy, cut = tokens.values()
    assert list(tokens)[1:] == ["triage_jira-zero_shot+tech_noise", "triage_jira-zero_shot+truncate_80pct"]
    assert cut < plain < noisy


def test_a_baseline_rests_while_its_perturbation_is_not_asked_for(alone_moody: Project) -> None:
    tests = alone_moody.pytester.path / "test_triage.py"
    gate = "--puma-gate=*+*: accuracy >= baseline - 0.5"
    alone_moody.run("--puma-perturb=case_upper", "--puma-update-baseline").assert_outcomes(passed=2)
    plain = alone_moody.run()
    assert plain.ret == 0, "nothing is gone"
    compared = alone_moody.run("--puma-perturb=case_upper", gate, "--puma-report=json:run.json")
    compared.assert_outcomes(passed=2)
    record = json.loads((alone_moody.pytester.path / "run.json").read_text(encoding="utf-8"))
    assert [verdict["status"] for verdict in record["outcomes"][1]["verdicts"]] == ["PASS"]
    tests.write_text(TRIAGE.replace("zero_shot", "one_shot"), encoding="utf-8")
    gone = alone_moody.run()
    assert gone.ret == 1
    gone.stdout.fnmatch_lines(
        [
            "*triage_jira-zero_shot+case_upper@tiny has a baseline, but *",
            "*triage_jira-zero_shot@tiny has a baseline, but *",
        ]
    )


def test_what_replies_take_is_learned_from_the_samples_as_they_are(alone_moody: Project) -> None:
    alone_moody.write(conftest="")
    alone_moody.run("--puma-perturb=case_upper", "--puma-max-tokens=4").assert_outcomes(passed=2)
    (throughput,) = json.loads(
        (alone_moody.pytester.path / ".puma" / "throughput.json").read_text(encoding="utf-8")
    ).values()
    assert list(throughput["replies"]) == ["triage_jira-zero_shot"]
