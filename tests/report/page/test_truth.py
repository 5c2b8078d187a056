"""The page has the numbers of `run.json` and the samples of `predictions.jsonl`, and no others."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core.shared import whole_prompts
from pytest_puma.report import robustness
from pytest_puma.report.contrasts import rows as contrast_rows
from pytest_puma.report.page import flags
from pytest_puma.report.page.page import as_page
from pytest_puma.report.rows import all_rows, interval, number
from pytest_puma.report.terminal import summary
from pytest_puma.store.deserialize import messages_from
from tests.report.page.scripted import Page, Recorded, every_kind, recorded, repeats

Line = dict[str, Any]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    root = tmp_path_factory.mktemp("project")
    return recorded(root, every_kind(root))


@pytest.fixture(scope="module")
def page(run: Recorded) -> Page:
    return Page(as_page(run.run, run.path))


def test_every_measure_is_that_of_the_record(run: Recorded, page: Page) -> None:
    for outcome, cell in zip(run.record["outcomes"], page.index["cells"], strict=True):
        names = ("metric", "value", "low", "high", "n", "note", "better", "unit")
        assert cell["measures"] == [{name: each[name] for name in names} for each in outcome["measures"].values()]
        assert [each["name"] for each in cell["naive"]] == list(outcome["naive_baselines"])
        assert {key: cell[key] for key in ("signature", "failures", "seconds")} == {
            key: outcome[key] for key in ("signature", "failures", "seconds")
        }
        assert [(each["status"], each["reason"], each["fails"]) for each in cell["verdicts"]] == [
            (each["status"], each["reason"], each["fails"]) for each in outcome["verdicts"]
        ]


def test_charts_are_those_of_the_record(run: Recorded, page: Page) -> None:
    for outcome, cell in zip(run.record["outcomes"], page.index["cells"], strict=True):
        matrix = cell["confusion"] or {"gold": [], "answers": [], "counts": []}
        counted = {
            gold: dict(zip(matrix["answers"], counts, strict=True))
            for gold, counts in zip(matrix["gold"], matrix["counts"], strict=True)
        }
        assert counted == outcome["confusion"]
        assert (cell["calibration"] or {"bins": []})["bins"] == outcome["calibration"]
    assert page.cell("triage_jira-option_scoring@script")["calibration"]["bins"]


def test_points_and_distributions_count_the_predictions(run: Recorded, page: Page) -> None:
    for cell in page.index["cells"]:
        lines = run.predictions(cell["id"])
        if cell["points"]:
            pairs = Counter((float(each["gold"]), float(each["answer"])) for each in lines if each["answer"])
            points = cell["points"]
            assert dict(zip(zip(points["gold"], points["answer"], strict=True), points["n"], strict=True)) == pairs
        for each in cell["distributions"]:
            scores = [line["scores"][each["metric"]] for line in lines]
            assert sum(each["counts"]) == sum(score is not None for score in scores)
    assert page.cell("estimation_tawos-zero_shot@script")["points"]["n"]
    assert page.cell("capitals-zero_shot@script")["distributions"]


def test_shifts_and_changes_are_those_of_the_record(run: Recorded, page: Page) -> None:
    shifts = {each["cell"]: each["shifts"] for each in run.record["robustness"]}
    for cell in page.index["cells"]:
        expected = shifts.get(cell["id"], [])
        assert [each["perturbation"] for each in cell["shifts"]] == [each["perturbation"] for each in expected]
        for mine, its in zip(cell["shifts"], expected, strict=True):
            assert (mine["p"], mine["adjusted"], mine["fixed"]) == (
                its["p"],
                its["adjusted"],
                its["answer_changes"]["fixed"],
            )
            assert mine["change"] == {name: its["change"].get(name, False) for name in mine["change"]}
            assert page.index["cells"][mine["cell"]]["perturbation"] == mine["perturbation"]
    (changed, *_) = page.index["cells"]
    contrast = next(
        each
        for each in run.record["contrasts"]
        if each["cell"] == changed["id"] and each["change"]["metric"] == "f1_macro"
    )
    assert changed["change"]["metric"] == "f1_macro"
    assert changed["change"]["value"] == contrast["change"]["value"]
    assert page.index["against"] == "the baseline"


FLAGS: dict[int, Callable[[Line], bool]] = {
    flags.RIGHT: lambda line: line["scores"]["loss"] == 0,
    flags.PARSE_FAILURE: lambda line: line["answer"] is None,
    flags.CUT_OFF: lambda line: line["finish"] in {"length", "context", "overflow"},
    flags.SURE_AND_WRONG: lambda line: (
        bool(line["probabilities"]) and max(line["probabilities"].values()) >= 0.9 and line["scores"]["loss"] != 0
    ),
    flags.LEFT_OUT: lambda _: False,
    flags.SHORTENED: lambda _: False,
}


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_count_what_the_predictions_have(run: Recorded, page: Page, flag: int) -> None:
    for cell in page.index["cells"]:
        expected = {(each["sample_id"], each["trial"]) for each in run.predictions(cell["id"]) if FLAGS[flag](each)}
        marked = zip(page.keys(cell["id"]), page.flags(cell["id"]), strict=True)
        assert {key for key, bits in marked if bits & flag} == expected


def test_flips_are_those_of_the_record(run: Recorded, page: Page) -> None:
    for outcome in run.record["outcomes"]:
        marked = list(zip(page.keys(outcome["cell"]), page.flags(outcome["cell"]), strict=True))
        for flag, better in ((flags.FLIP_WORSE, False), (flags.FLIP_BETTER, True)):
            expected = {
                (each["sample_id"], each["trial"] or 0) for each in outcome["flips"] if each["better"] == better
            }
            assert {key for key, bits in marked if bits & flag} == expected
        block, keys = page.block(f"a{page.place(outcome['cell'])}"), page.keys(outcome["cell"])
        old = {
            keys[int(row)]: None if answer is None else block["table"][answer] for row, answer in block["old"].items()
        }
        assert old == {(each["sample_id"], each["trial"] or 0): each["old"] for each in outcome["flips"]}
    assert any(outcome["flips"] for outcome in run.record["outcomes"])


def test_rows_differ_where_not_all_cells_give_one_answer(run: Recorded, page: Page) -> None:
    for scenario in page.index["scenarios"]:
        cells = [page.index["cells"][place]["id"] for place in scenario["cells"]]
        answers: dict[Any, set[Any]] = {}
        for each in cells:
            for line in run.predictions(each):
                answer = line["answer"]
                value = float(answer) if scenario["task"] == "regression" and answer else answer
                answers.setdefault((line["sample_id"], line["trial"]), set()).add(value)
        for each in cells:
            marked = zip(page.keys(each), page.flags(each), strict=True)
            expected = {key for key in page.keys(each) if key and len(answers[key]) > 1}
            assert {key for key, bits in marked if bits & flags.DIFFERS} == expected


def test_rows_have_the_answers_and_texts_of_the_predictions(run: Recorded, page: Page) -> None:
    for cell in page.index["cells"]:
        lines = {(each["sample_id"], each["trial"]): each for each in run.predictions(cell["id"])}
        keys, answers, entries = page.keys(cell["id"]), page.answers(cell["id"]), page.entries(cell["id"])
        rows = page.block(f"r{cell['scenario']}")
        assert {key for key in keys if key} == set(lines)
        for row, key in enumerate(keys):
            if key is None:
                continue
            line, entry = lines[key], entries[row]
            assert answers[row] == line["answer"]
            assert rows["gold"][row] == line["gold"]
            assert entry is not None
            assert (entry["replies"], entry["finish"], entry["failure"]) == (
                line["raw"],
                line["finish"],
                line["failure"],
            )
            for label, share in (line["probabilities"] or {}).items():
                assert entry["probabilities"][label] == pytest.approx(share, rel=1e-3)


def test_prompts_are_put_together_to_those_that_were_asked(run: Recorded, page: Page) -> None:
    shared = {each["cell"]: tuple(messages_from(messages) for messages in each["prompts"]) for each in cell_lines(run)}
    for cell in page.index["cells"]:
        lines = {(each["sample_id"], each["trial"]): each for each in run.predictions(cell["id"])}
        for row, key in enumerate(page.keys(cell["id"])):
            if key is not None:
                rests = (rest and messages_from(rest) for rest in lines[key]["prompts"])
                expected = whole_prompts(shared[cell["id"]], rests)
                assert page.prompts(cell["id"], row) == [
                    [{"role": each.role, "content": each.content} for each in prompt] for prompt in expected
                ]


def cell_lines(run: Recorded) -> list[Line]:
    import json

    lines = (run.path / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
    return [each for each in map(json.loads, lines) if each["kind"] == "cell"]


def test_the_parts_that_all_prompts_share_are_stored_once(page: Page) -> None:
    place = page.place("triage_jira-few_shot_3@script")
    (start,) = page.block(f"h{place}")["start"]
    (end,) = page.block(f"h{place}")["end"]
    assert len(start) > 1 or len(start[0][1]) > 300
    assert end.strip()
    pieces = page.block("s0")["pieces"]
    assert len(pieces) == len(set(pieces))
    assert not any(piece.endswith(end) for piece in pieces)


def test_trials_of_a_sample_are_rows_of_their_own(tmp_path: Path) -> None:
    run = recorded(tmp_path, [repeats()])
    page = Page(as_page(run.run, run.path))
    (cell,) = page.index["cells"]
    lines = run.predictions(cell["id"])
    assert page.keys(cell["id"]) == [(each["sample_id"], each["trial"]) for each in lines]
    assert page.index["scenarios"][0]["rows"] == len(lines) == 18


# -- the summary -----------------------------------------------------------------------------------


def texts(cells: Iterable[str]) -> list[str]:
    return [" ".join(each.split()) for each in cells]


def test_the_summary_has_every_row_of_the_terminal(run: Recorded, page: Page) -> None:
    expected = all_rows(run.run.outcomes)
    bodies = [table[1:] for table in page.tables if table[0][:2] == ["strategy", "model"]]
    rows = [texts(row) for body in bodies for row in body]
    assert len(rows) == len(expected)
    for mine, (scenario, strategy, model, n, metric, value, limits, *costs, verdict) in zip(
        rows, expected, strict=True
    ):
        tail = mine[-9:]
        assert tail[0] == metric
        assert tail[1] == value
        assert tail[3:5] == [limits, n]
        assert tail[5:8] == costs
        # Behind its sign.
        assert tail[8] == verdict or tail[8].endswith(f" {verdict}")
        if scenario:
            assert mine[:2] == [strategy, model]


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
    for outcome in run.run.outcomes:
        for verdict in outcome.failed:
            assert verdict.reason in shown


def test_changes_perturbations_and_comparisons_have_the_numbers_of_the_terminal(run: Recorded, page: Page) -> None:
    by_head = {tuple(table[0][:2]): table for table in page.tables}
    changes = [texts(row) for row in by_head["cell", "metric"][1:]]
    judged = [
        (outcome.cell, verdict)
        for outcome in run.run.outcomes
        for verdict in outcome.verdicts
        if verdict.change is not None
    ]
    for cell, verdict in judged:
        assert verdict.change is not None
        row = next(row for row in changes if row[0] == cell and row[10] == str(verdict.gate))
        assert row[2:4] == [number(verdict.change.old), number(verdict.change.new)]
        assert row[6:10] == [
            interval(verdict.change),
            str(verdict.change.n),
            str(verdict.change.worse),
            str(verdict.change.better),
        ]
    shifts = [texts(row) for row in by_head["cell", "perturbation"][1:]]
    expected = robustness.rows(run.run.robustness)
    assert [[*row[1:5], *row[6:]] for row in shifts] == [texts(row[3:]) for row in expected]
    compared = [texts(row) for row in by_head["cell", "against"][1:]]
    assert [[*row[1:4], *row[5:]] for row in compared] == [texts(row[1:]) for row in contrast_rows(run.run.contrasts)]
    assert judged


def test_drawings_have_the_numbers_for_those_who_do_not_see_them(run: Recorded, page: Page) -> None:
    for outcome in run.run.outcomes:
        measure = outcome.measures[outcome.primary]
        if not math.isnan(measure.low):
            assert f"{number(measure.value)}, interval {number(measure.low)} to {number(measure.high)}" in page.shown


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
