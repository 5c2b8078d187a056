"""The summary of the page has the rows, sentences and numbers of the terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from html import escape
from pathlib import Path

from pytest_puma.report import robustness
from pytest_puma.report.comparison import contrast_rows
from pytest_puma.report.page.changes import contrast_table
from pytest_puma.report.page.page import as_page
from pytest_puma.report.page.summary import standing
from pytest_puma.report.rows import all_rows, interval, number
from pytest_puma.report.terminal import summary
from tests.factories import cell, evaluated
from tests.factories import outcome as outcome_of
from tests.factories import verdict as verdict_of
from tests.report.page.page import Page
from tests.report.page.scripted import Recorded, moody, recorded


def texts(cells: Iterable[str]) -> list[str]:
    return [" ".join(each.split()) for each in cells]


def test_the_summary_has_every_row_of_the_terminal(run: Recorded, page: Page) -> None:
    expected = all_rows([outcome for outcome in run.run.outcomes if outcome.name.perturbation is None])
    bodies = [table[1:] for table in page.tables if table[0][:3] == ["strategy", "model", "metric"]]
    rows = [texts(row) for body in bodies for row in body]
    assert len(rows) == len(expected)
    for mine, (scenario, strategy, model, n, metric, value, limits, *costs, verdict, gate) in zip(
        rows, expected, strict=True
    ):
        tail = mine[-10:]
        assert tail[0] == metric
        assert tail[1] == value
        assert tail[3:5] == [limits, n]
        assert tail[5:8] == costs
        # Behind its sign.
        assert tail[8] == verdict or tail[8].endswith(f" {verdict}")
        assert tail[9] == gate
        if scenario:
            # The name may have the verdict on the whole cell behind it.
            assert mine[0].split(" ")[0] == strategy
            assert mine[1] == model


def test_the_summary_has_every_sentence_of_the_terminal(run: Recorded, page: Page) -> None:
    shown = " ".join(page.shown.split())
    lines = summary(run.run, "", 10_000)
    sentences = lines[2 + len(all_rows(run.run.outcomes)) :]
    assert sentences
    for sentence in sentences:
        # The name of a cell is a link, and the word before it a heading.
        *_, text = (
            sentence.split(": ", 2) if sentence.startswith(("warning", "inconclusive", "no baseline")) else [sentence]
        )
        assert " ".join(text.split()) in shown, sentence
    failed = [verdict for outcome in run.run.outcomes for verdict in outcome.failed]
    assert failed
    for verdict in failed:
        assert verdict.reason in shown


def test_changes_perturbations_and_comparisons_have_the_numbers_of_the_terminal(run: Recorded, page: Page) -> None:
    by_head = {tuple(table[0][:3]): table for table in page.tables}
    changes = [texts(row) for row in by_head["cell", "metric", "was"][1:]]
    judged = [
        (outcome.cell, verdict)
        for outcome in run.run.outcomes
        for verdict in outcome.judgement.verdicts
        if verdict.change is not None
    ]
    for name, verdict in judged:
        assert verdict.change is not None
        row = next(row for row in changes if row[0] == name and row[10] == str(verdict.gate))
        assert row[2:4] == [number(verdict.change.old), number(verdict.change.new)]
        assert row[6:10] == [
            interval(verdict.change),
            str(verdict.change.n),
            str(verdict.change.worse),
            str(verdict.change.better),
        ]
    shifts = by_head["cell", "metric", "value"][1:]
    expected = robustness.rows(run.run.robustness)
    assert [row[0] for row in shifts] == [each.cell for each in run.run.outcomes if each.name.perturbation]
    assert [[*texts(row)[1:4], *texts(row)[5:]] for row in shifts] == [texts(row[4:]) for row in expected]
    tables = [table[1:] for table in page.tables if table[0][:3] == ["cell", "against", "metric"]]
    sides = [
        [contrast for contrast in run.run.contrasts if bool(contrast.change.changed) == told] for told in (True, False)
    ]
    for table, contrasts in zip(tables, sides, strict=True):
        rows = [texts(row) for row in table]
        unsigned = [[*row[1:3], row[3].removeprefix("▲ ").removeprefix("▼ "), *row[5:]] for row in rows]
        assert unsigned == [texts(row[1:]) for row in contrast_rows(contrasts)]
    assert f"{len(sides[1])} rows without a change" in page.shown
    assert judged


def test_a_significant_difference_has_the_sign_and_the_colour_of_its_direction(run: Recorded) -> None:
    first = run.run.contrasts[0]
    alike = replace(first, change=replace(first.change, metric="f1_macro", value=0.2, changed=3), adjusted=0.01)
    contrasts = (
        alike,
        replace(alike, change=replace(alike.change, value=-0.2)),
        replace(alike, change=replace(alike.change, metric="parse_failure_rate", value=-0.2)),
        replace(alike, adjusted=0.06),
    )
    page = as_page(replace(run.run, contrasts=contrasts), None)
    lines = contrast_table(replace(run.run, contrasts=contrasts)).lines
    assert [line.effect for line in lines] == ["better", "worse", "better", ""]
    comparison = page[page.index('id="comparison"') :]
    assert re.findall(
        r'<td class="number value nowrap (\w*)">(?:<span role="img" aria-label="(\w+)">(.)</span>)?', comparison
    ) == [
        ("good", "better", "▲"),
        ("bad", "worse", "▼"),
        ("good", "better", "▲"),
        ("", "", ""),
    ]
    assert comparison.count('<svg class="interval good"') == 2


def test_statistics_and_the_origin_of_the_answers_are_folded(run: Recorded) -> None:
    page = as_page(run.run, None)
    (folded,) = re.findall(r'<details class="statistics">.*?</details>', page, re.DOTALL)
    shown = page[page.index("<main") : page.index("</main>")].replace(folded, "")
    for word in ("false alarms: ", "power: ", "sha256 "):
        assert word in folded
        assert word not in shown


def test_a_perturbed_cell_has_a_row_beside_the_others_if_it_has_a_gate_or_no_unperturbed_twin(tmp_path: Path) -> None:
    made = partial(cell, compared_metrics=("f1_macro",))
    outcomes = [
        evaluated(made(), moody),
        evaluated(made(perturbation="case_upper", gates=("accuracy >= 0",)), moody),
        evaluated(made(perturbation="typos_20pct"), moody),
        evaluated(made(strategy="few_shot_3", perturbation="case_upper"), moody),
    ]
    run = recorded(tmp_path, outcomes)
    page = Page(as_page(run.run, run.path))
    named = {tuple(table[0][:3]): [row[0] for row in table[1:]] for table in page.tables}
    cells = [name for name in named["strategy", "model", "metric"] if name != "accuracy"]
    assert cells == ["zero_shot", "zero_shot+case_upper \u2713 PASS", "few_shot_3+case_upper"]
    assert named["cell", "metric", "value"] == [
        f"triage_jira-zero_shot+{name}@script" for name in ("case_upper", "typos_20pct")
    ]
    # Where links to a cell lead without JavaScript.
    assert all(page.text.count(f' id="cell={outcome.cell}"') == 1 for outcome in outcomes)


def test_drawings_have_the_numbers_for_those_who_do_not_see_them(run: Recorded, page: Page) -> None:
    primary = [outcome.measures[outcome.primary] for outcome in run.run.outcomes]
    drawn = [measure for measure in primary if not math.isnan(measure.low)]
    assert drawn
    for measure in drawn:
        assert f"{number(measure.value)}, interval {number(measure.low)} to {number(measure.high)}" in page.shown


def test_what_is_undecided_stands_under_a_heading_of_its_own(tmp_path: Path) -> None:
    unsure = verdict_of("accuracy >= baseline", "INCONCLUSIVE", "it may miss the limit")
    missed = verdict_of("accuracy >= 0.9", "FAIL", "accuracy is under 0.9")
    sections = {}
    for name, verdicts in {"both": ((missed,), (unsure,)), "undecided": ((unsure,),), "kept": ((),)}.items():
        outcomes = [outcome_of(f"triage-few_shot_{n}@m", verdicts=each) for n, each in enumerate(verdicts, 3)]
        run = recorded(tmp_path / name, outcomes)
        page = as_page(run.run, None)
        sections[name] = re.findall(r'<h2 id="(verdicts|undecided)">([^<]*)</h2>', page)
    failed, undecided = ("verdicts", "What failed"), ("undecided", "What is undecided")
    assert sections == {"both": [failed, undecided], "undecided": [undecided], "kept": []}


def test_the_gates_that_passed_are_listed_with_their_limits_and_folded(run: Recorded) -> None:
    page = as_page(run.run, None)
    section = page[page.index('<h2 id="passed">') :]
    (folded,) = re.findall(r"<details.*?</details>", section[: section.index("</section>")], re.DOTALL)
    verdicts = [verdict for outcome in run.run.outcomes for verdict in outcome.judgement.verdicts]
    kept = [verdict for verdict in verdicts if verdict.status == "PASS"]
    assert kept
    assert f"{len(kept)} gates with their limits" in folded
    for verdict in kept:
        assert escape(verdict.reason) in folded


def test_the_bar_leads_to_each_part_that_the_page_has(run: Recorded) -> None:
    for page in (as_page(run.run, None), as_page(replace(run.run, outcomes=(), contrasts=(), robustness=()), None)):
        (bar,) = re.findall(r"<nav.*?</nav>", page, re.DOTALL)
        targets = re.findall(r'href="#([\w-]+)"', bar)
        headings = re.findall(r'<h2 id="([\w-]+)"', page[: page.index("</main>")])
        assert targets == [*headings, "details"]


def test_a_failure_has_its_commands_and_what_is_undecided_has_none(tmp_path: Path) -> None:
    missed = verdict_of("no_regression", "FAIL", "a regression")
    unsure = verdict_of("accuracy >= baseline", "INCONCLUSIVE", "it may miss the limit")
    run = recorded(tmp_path, [outcome_of(verdicts=(missed, unsure))])
    failed, undecided = as_page(run.run, None).split('<h2 id="undecided">')
    command = "pytest &#39;test_t.py::test_t[triage-zero_shot@m]&#39;"
    shown = re.findall(r'<li class="command"><span>(\w+)</span> <code>(.*?)</code>', failed)
    # A line may end at a blank, before `::` and before a bracket.
    assert shown[0][1].count("<span>") == 4
    assert [(name, re.sub(r"</?span>", "", text)) for name, text in shown] == [
        ("reproduce", command),
        ("accept", f"{command} --puma-update-baseline"),
    ]
    assert 'class="command"' not in undecided.split("<script")[0]


def test_the_verdict_on_a_cell_is_that_of_its_worst_gate() -> None:
    passed, unsure, missed = (
        verdict_of("accuracy >= 0.9", status, "so") for status in ("PASS", "INCONCLUSIVE", "FAIL")
    )
    for verdicts, expected in {
        (): "",
        (passed,): "PASS",
        (passed, unsure): "INCONCLUSIVE",
        (passed, unsure, missed): "FAIL",
        (replace(unsure, fails=True), passed): "FAIL",
    }.items():
        assert standing(outcome_of(verdicts=verdicts)) == expected


def test_a_gate_on_several_cells_that_passed_is_not_undecided(tmp_path: Path) -> None:
    kept = verdict_of("max(accuracy over strategy) >= 0.5", "PASS", "max of 2: accuracy 0.66 keeps >= 0.5")
    page = as_page(recorded(tmp_path, [outcome_of()], verdicts=(kept,)).run, None)
    assert re.findall(r'<h2 id="(undecided|passed)">', page) == ["passed"]
    assert "max of 2: accuracy 0.66 keeps" in page.replace("&gt;", ">")


def test_a_run_without_outcomes_has_a_page(tmp_path: Path) -> None:
    run = recorded(tmp_path, [], problems=("no cell ran",))
    page = Page(as_page(run.run, run.path))
    assert page.index["cells"] == page.index["scenarios"] == []
    assert page.inflated("fl") == b""
    assert "1 problem of the run" in page.shown
    assert "no cell ran" in page.shown


def test_a_run_of_which_the_predictions_are_gone_has_its_numbers(run: Recorded) -> None:
    page = Page(as_page(replace(run.run), None))
    assert page.cell("estimation_tawos-zero_shot@script")["measures"]
    assert "the samples of triage_jira-zero_shot@script and 7 more are not in the run folder" in page.shown
    assert set(page.packed) == {"ix", "fl", "r0", "r1", "r2", "r3", "s0", "s1", "s2", "s3"}
    assert page.flags("estimation_tawos-zero_shot@script") == []
