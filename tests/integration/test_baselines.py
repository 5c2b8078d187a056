"""Baselines as a team uses them: store what is good, see what got worse, accept or repair."""

from __future__ import annotations

import csv
import json
import re
import shutil
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.integration.conftest import GATED, ONE_PROCESS, SCRIPTED, TRIAGE, Project, baseline_files, with_baseline

BUNDLED = Path(__file__).parents[2] / "prompts" / "triage_jira"
#: An issue of which the model sees a letter of the key alone.
BLIND = "<issue>\nTitle: {{ issue_key[:1] }}\n</issue>\n"


@ONE_PROCESS
def test_a_prompt_that_got_worse_fails_with_the_sentence_until_it_is_restored(project: Project) -> None:
    """On the bundled model."""
    team = with_baseline(project)
    same = team.run("benchmarks", model=False)
    same.assert_outcomes(passed=2)
    assert same.ret == 0

    prompts = team.pytester.mkdir("prompts") / "triage_jira"
    prompts.mkdir()
    (prompts / "_issue.jinja").write_text(BLIND, encoding="utf-8")
    worse = team.run("benchmarks", "--junitxml=junit.xml", "--puma-flips", "--puma-report=md:run.md", model=False)
    worse.assert_outcomes(failed=2)
    assert worse.ret == 1
    sentence = (
        "accuracy fell by 0.* against the baseline, more than the 0.02 allowed "
        "(* of 50 answers went from right to wrong, * the other way); changed since: the prompt template"
    )
    worse.stdout.fnmatch_lines(["*_ test_triage?triage_jira-zero_shot@puma-tiny? _*", sentence])
    junit = ET.parse(team.pytester.path / "junit.xml").getroot()  # noqa: S314 - written by pytest
    failures = {
        case.attrib["name"]: each.text or "" for case in junit.iter("testcase") for each in case.iter("failure")
    }
    assert len(failures) == 2
    assert all("more than the 0.02 allowed (" in text for text in failures.values())
    markdown = (team.pytester.path / "run.md").read_text(encoding="utf-8")
    for cell in ("triage_jira-zero_shot@puma-tiny", "triage_jira-option_scoring@puma-tiny"):
        counts = re.search(rf"flips of {cell}: (\d+) worse, (\d+) better", worse.stdout.str())
        assert counts is not None
        turned = f"({counts[1]} of 50 answers went from right to wrong, {counts[2]} the other way)"
        assert turned in failures[f"test_triage[{cell}]"]
        assert f"{cell}: {counts[1]} answers worse, {counts[2]} better" in markdown
        assert turned in markdown

    shutil.rmtree(prompts)
    assert team.run("benchmarks", model=False).ret == 0


def test_the_worse_may_be_accepted(one: Project) -> None:
    before = baseline_files(one)
    one.write(conftest=SCRIPTED.replace("Major", "nothing"))
    assert one.run("benchmarks", "--puma-gate=accuracy >= baseline !point", model=False).ret == 1
    accepted = one.run("benchmarks", "--puma-update-baseline", model=False)
    accepted.assert_outcomes(passed=2)
    accepted.stdout.fnmatch_lines(
        [
            "* accuracy * NEW BASELINE * >= baseline - 0.02",
            "new baseline: triage_jira-zero_shot@puma-tiny*: not compared with the baseline: this run becomes *",
            "baseline: benchmarks/baselines/triage_jira.json: 2 changed",
            "baseline lowered: f1_macro 0.* -> 0 (triage_jira-zero_shot@puma-tiny)",
            "baseline lowered: accuracy 0.* -> 0 (triage_jira-zero_shot@puma-tiny)",
        ]
    )
    assert baseline_files(one) != before
    raised = one.run("benchmarks", "--puma-update-baseline", model=False)
    raised.stdout.no_fnmatch_line("baseline lowered*")
    assert one.run("benchmarks", "--puma-gate=accuracy >= baseline !point", model=False).ret == 0


def test_an_error_that_rises_is_named_as_worse(one: Project) -> None:
    """In a regression less is better."""
    test = GATED.replace("triage_jira", "estimation_tawos").replace("accuracy", "mae").replace(">=", "<=")
    one.write(conftest=SCRIPTED.replace("13", "8"))
    (one.pytester.path / "benchmarks" / "test_points.py").write_text(test.replace("- 0.02", "+ 0.02"), encoding="utf-8")
    points = ("benchmarks/test_points.py", "--puma-update-baseline", "-k", "zero_shot")
    one.run(*points, model=False).stdout.no_fnmatch_line("baseline raised*")
    one.write(conftest=SCRIPTED.replace("13", "34"))
    again = one.run(*points, model=False)
    again.stdout.fnmatch_lines(
        ["baseline raised: mae * -> * (estimation_tawos-zero_shot@puma-tiny), where less is better"]
    )


def test_updating_without_a_change_leaves_every_byte(one: Project) -> None:
    before = baseline_files(one)
    again = one.run("benchmarks", "--puma-update-baseline", model=False)
    again.stdout.fnmatch_lines(["baseline: benchmarks/baselines/triage_jira.json: 2 unchanged"])
    assert baseline_files(one) == before


@ONE_PROCESS
def test_an_update_names_what_else_differs_from_the_baseline_that_it_replaces(project: Project) -> None:
    project.write(test_triage=TRIAGE)
    project.run("--puma-update-baseline").stdout.no_fnmatch_line("baseline replaced: *")
    plain = (f"--puma-model={project.model},chat=off", "--puma-seed=2", "--puma-update-baseline")
    gone = "8 of the 8 samples of the old one are not in the new one"
    changed = f"baseline replaced: triage_jira-zero_shot@tiny; {gone}; changed since: the chat format, the seed"
    both = (
        "to keep both, restore the old one from version control, and give this model another name: --puma-model NAME=*"
    )
    project.run(*plain, model=False).stdout.fnmatch_lines(
        [
            "baseline: benchmarks/baselines/triage_jira.json: 1 changed",
            f"{changed}; it had chat=on, this run has chat=off: {both}",
        ]
    )
    project.run(*plain, model=False).stdout.no_fnmatch_line("baseline replaced: *")


def _record(folder: Path) -> str:
    return (folder / "run.json").read_text(encoding="utf-8")


def test_fewer_samples_are_compared_where_both_have_them(one: Project) -> None:
    result = one.run("benchmarks", "--puma-samples=30", "-k", "zero_shot", model=False)
    result.assert_outcomes(passed=1, deselected=1)
    (folder,) = (path for path in (one.pytester.path / ".puma" / "runs").iterdir() if '"samples": 30' in _record(path))
    (outcome,) = json.loads(_record(folder))["outcomes"]
    (verdict,) = outcome["verdicts"]
    assert verdict["status"] == "PASS"
    assert "against the baseline on the 30 samples that both have" in verdict["reason"]
    assert (verdict["change"]["n"], verdict["change"]["value"]) == (30, 0)


def test_a_project_may_insist_on_a_baseline(one: Project) -> None:
    one.pytester.makeini("[pytest]\npuma_missing_baseline = fail")
    result = one.run("benchmarks", "--puma-model=other=puma-tiny", model=False)
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        [
            "*_ test_triage?triage_jira-zero_shot@other? _*",
            "accuracy >= baseline*: there is no baseline for 'other'; there are baselines for puma-tiny: *",
        ]
    )


def test_other_data_are_named_and_only_common_samples_are_compared(one: Project) -> None:
    data = one.pytester.path / "mine.csv"
    lines = (BUNDLED.parents[1] / "data" / "jira_balanced_200.csv").read_text(encoding="utf-8")
    data.write_text(lines.replace("\r\n", "\n") + "\n", encoding="utf-8")
    result = one.run(
        "benchmarks", "--puma-data=triage_jira=mine.csv", "--puma-gate=accuracy >= baseline + 1", model=False
    )
    assert result.ret == 1
    result.stdout.fnmatch_lines(["*accuracy stayed the same *which misses >= baseline + 1 (*; changed since: the data"])


def test_relabelled_data_are_named_also_where_the_gate_passes(one: Project) -> None:
    lines = (BUNDLED.parents[1] / "data" / "jira_balanced_200.csv").read_text(encoding="utf-8")
    (one.pytester.path / "mine.csv").write_text(lines.replace("Major", "Minor"), encoding="utf-8")
    options = ("--puma-data=triage_jira=mine.csv", "--puma-report=md:run.md")
    result = one.run("benchmarks", *options, model=False)
    assert result.ret == 0
    sentence = "the data changed since the baseline: its answers are judged by today's labels"
    result.stdout.fnmatch_lines([f"warning: triage_jira-zero_shot@puma-tiny and 1 more: {sentence}"])
    assert sentence in (one.pytester.path / "run.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(("samples", "warned"), [("all", True), ("25", False)])
def test_data_that_shrank_are_named_unless_fewer_samples_were_requested(
    one: Project, samples: str, *, warned: bool
) -> None:
    lines = (BUNDLED.parents[1] / "data" / "jira_balanced_200.csv").read_text(encoding="utf-8")
    data = one.pytester.path / "mine.csv"
    options = (f"--puma-samples={samples}", "--puma-data=triage_jira=mine.csv")
    data.write_text(lines, encoding="utf-8")
    one.run("benchmarks", "--puma-samples=all", *options[1:], "--puma-update-baseline", model=False)
    rows = list(csv.reader(lines.splitlines(keepends=True)))
    with data.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows[:26])
    result = one.run("benchmarks", *options, model=False)
    assert result.ret == 0
    sentence = "25 of the 200 samples of the baseline were run; comparisons with it use these"
    assert (f"warning: triage_jira-zero_shot@puma-tiny and 1 more: {sentence}" in result.outlines) is warned


def test_another_folder_may_be_named(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_baselines = kept")
    alone.write(test_triage=GATED)
    alone.run("--puma-update-baseline", "--puma-samples=5", model=False).assert_outcomes(passed=2)
    assert sorted(path.name for path in (alone.pytester.path / "kept").iterdir()) == [
        "triage_jira.answers.jsonl",
        "triage_jira.json",
    ]


@pytest.mark.parametrize(
    ("ini", "problem"),
    [
        ("puma_inconclusive = maybe", "puma_inconclusive: found 'maybe'; expected one of warn, fail, point"),
        ("puma_missing_baseline = point", "puma_missing_baseline: found 'point'; expected one of warn, fail"),
    ],
)
@ONE_PROCESS
def test_an_unknown_choice_is_a_usage_error(project: Project, ini: str, problem: str) -> None:
    project.pytester.makeini(f"[pytest]\n{ini}")
    project.write(test_triage=GATED)
    result = project.run(model=False)
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*puma: ini key {problem}"])


def test_a_clock_is_not_compared_with_that_of_another_day(alone: Project) -> None:
    alone.write(test_triage=GATED.replace("accuracy >= baseline - 0.02", "latency_mean <= baseline * 1.2"))
    result = alone.run()
    assert result.ret == 2
    result.stdout.fnmatch_lines(["*baselines hold no latency_mean, as clocks differ; expected a number*"])


def test_only_the_answers_that_had_turned_are_asked_again(team: Project) -> None:
    other = GATED.replace("test_triage", "test_other").replace("triage_jira", "estimation_tawos")
    (team.pytester.path / "benchmarks" / "test_other.py").write_text(other.replace("accuracy", "mae"), encoding="utf-8")
    team.write(conftest=SCRIPTED.replace("Major", "nothing"))
    team.run("benchmarks", "-k", "triage and zero_shot", model=False).assert_outcomes(failed=1)

    again = team.run("benchmarks", "--puma-only-flips", model=False)
    again.assert_outcomes(passed=1)
    again.stdout.fnmatch_lines(
        [
            "triage_jira *zero_shot *puma-tiny *1[23] *f1_macro*",
            "*1[23] *accuracy*NOT RUN*>= baseline - 0.02",
            "flips of triage_jira-zero_shot@puma-tiny: 1[23] worse, 0 better",
        ]
    )

    team.write(conftest=SCRIPTED)
    repaired = team.run("benchmarks", "--puma-only-flips", model=False)
    repaired.assert_outcomes(passed=1)
    assert "flips of" not in repaired.stdout.str()
    repaired.stdout.fnmatch_lines(["flips: no answer of this run is better or worse than in a baseline"])
    nothing = team.run("benchmarks", "--puma-only-flips", model=False)
    assert nothing.ret == 4
    nothing.stderr.fnmatch_lines(["ERROR: puma: --puma-only-flips: found no flips in *"])


def test_without_a_run_there_are_no_flips_to_ask(alone: Project) -> None:
    result = alone.run("--puma-only-flips", model=False)
    assert result.ret == 4
    result.stderr.fnmatch_lines(["ERROR: puma: --puma-only-flips: found no run in *; run with a baseline *"])
