"""The HTML page of a real run: one file beside the others, whatever process computed the cells."""

from __future__ import annotations

import pytest

from tests.integration.conftest import SCRIPTED, TRIAGE, Project
from tests.report.page.page import Page

GATED = TRIAGE.replace(
    'strategies=["zero_shot"], samples=8',
    'strategies=["zero_shot", "option_scoring"], samples=8, gates=["accuracy >= 0.9"]',
)


def page_of(project: Project, name: str = "out.html") -> Page:
    return Page((project.pytester.path / name).read_text(encoding="utf-8"))


def test_the_page_has_the_run_and_the_terminal_has_its_address(alone: Project) -> None:
    alone.write(test_triage=GATED)
    result = alone.run("--puma-report=html:the report #1.html", "--puma-report=json:run.json")
    result.assert_outcomes(failed=2)
    address = (alone.pytester.path / "the report #1.html").as_uri()
    assert address.endswith("/the%20report%20%231.html")
    result.stdout.fnmatch_lines([f"report: {address}", "report: *run.json"])
    page, record = page_of(alone, "the report #1.html"), alone.record()
    assert page.index["run"]["id"] == record["id"]
    assert {each["id"]: each["measures"][0]["value"] for each in page.index["cells"]} == {
        each["cell"]: each["measures"]["f1_macro"]["value"] for each in record["outcomes"]
    }
    answers = {(each["cell"], each["sample_id"]): each["answer"] for each in alone.predictions()}
    assert len(page.index["cells"]) == 2
    for cell in page.index["cells"]:
        keys = page.keys(cell["id"])
        assert [answers[cell["id"], key[0]] for key in keys if key] == page.answers(cell["id"])
    assert "2 of 2 cells missed a gate" in page.shown


def test_flips_since_the_baseline_are_marked(alone: Project) -> None:
    alone.write(test_triage=TRIAGE)
    alone.run("--puma-update-baseline").assert_outcomes(passed=1)
    alone.write(conftest=SCRIPTED.replace("Major", "Minor"))
    alone.run("--puma-flips", "--puma-report=html:out.html").assert_outcomes(passed=1)
    page = page_of(alone)
    flags = page.flags("triage_jira-zero_shot@tiny")
    assert [sum(bool(each & flag) for each in flags) for flag in (1 << 4, 1 << 5)] == [2, 2]
    assert page.index["against"] == "the baseline"


def test_perturbed_cells_are_linked_to_their_twins(alone_moody: Project) -> None:
    alone_moody.run("--puma-perturb=shouted", "--puma-report=html:out.html").assert_outcomes(passed=2)
    page = page_of(alone_moody)
    (shift,) = page.cell("triage_jira-zero_shot@tiny")["shifts"]
    assert page.index["cells"][shift["cell"]]["id"] == "triage_jira-zero_shot+shouted@tiny"


def test_a_run_that_keeps_no_prompts_has_none_on_its_page(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_keep_prompts = false\n")
    alone.write(test_triage=TRIAGE)
    alone.run("--puma-report=html:out.html").assert_outcomes(passed=1)
    page = page_of(alone)
    assert page.block("s0") == {"pieces": []}
    entries = page.entries("triage_jira-zero_shot@tiny")
    assert [entry and (entry["replies"], entry["prompts"]) for entry in entries] == [(["Major"], [])] * 8


def test_texts_stay_out_by_an_ini_key(alone: Project) -> None:
    alone.pytester.makeini("[pytest]\npuma_naive_baselines = false\npuma_report_texts = none\npuma_report_mb = 2.5\n")
    alone.write(test_triage=TRIAGE)
    alone.run("--puma-report=html:out.html").assert_outcomes(passed=1)
    page = page_of(alone)
    assert not [name for name in page.packed if name.startswith("t")]
    assert page.answers("triage_jira-zero_shot@tiny") == ["Major"] * 8


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("puma_report_texts = some", "ini key puma_report_texts: found 'some'; expected one of all, none"),
        ("puma_report_mb = 0.5", "ini key puma_report_mb is 0.5; expected a number from 1"),
    ],
)
def test_a_wrong_ini_key_is_a_usage_error(alone: Project, line: str, fault: str) -> None:
    alone.pytester.makeini(f"[pytest]\n{line}\n")
    alone.write(test_triage=TRIAGE)
    result = alone.run()
    assert result.ret == 4
    result.stderr.fnmatch_lines([f"*puma: {fault}"])


def test_cells_that_end_in_an_error_are_named_on_the_page(alone: Project) -> None:
    alone.write(test_triage=TRIAGE.replace("    pass", "    raise RuntimeError('boom')"))
    alone.run("--puma-report=html:out.html").assert_outcomes(failed=1)
    page = page_of(alone)
    assert "1 test failed" in page.shown
    assert "boom" in page.cell("triage_jira-zero_shot@tiny")["error"]
