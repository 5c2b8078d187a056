"""The page has the numbers of `run.json` and the samples of `predictions.jsonl`, and no others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_puma.core import Prediction
from pytest_puma.core.shared import whole_prompts
from pytest_puma.report.commands import commands
from pytest_puma.report.page import encoding
from pytest_puma.report.page.page import as_page
from tests.report.page.page import Page
from tests.report.page.scripted import Recorded, recorded, repeats


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


def test_a_row_has_the_beginning_of_its_sample_without_what_all_prompts_share(run: Recorded, page: Page) -> None:
    for number, scenario in enumerate(page.index["scenarios"]):
        texts = page.block(f"r{number}")["texts"]
        assert all(texts)
        assert max(map(len, texts)) <= 123
        first = page.index["cells"][scenario["cells"][0]]["id"]
        asked = {each.key: each.transcript.prompts[0] for each in run.predictions(first)}
        for key, text in zip(page.keys(first), texts, strict=True):
            prompt = asked[key] if key is not None else None
            assert prompt is not None
            shown = text.removesuffix("...")
            assert any(" ".join(message.content.split()).startswith(shown) for message in prompt)


def test_a_gate_on_a_baseline_has_its_limit_and_a_failed_cell_its_commands(run: Recorded, page: Page) -> None:
    for outcome, cell in zip(run.run.outcomes, page.index["cells"], strict=True):
        for verdict, shown in zip(outcome.judgement.verdicts, cell["verdicts"], strict=True):
            compared = verdict.change is not None
            assert (shown["limit"] is not None) == compared
            if verdict.change is not None:
                assert shown["limit"] == pytest.approx(verdict.change.old + verdict.gate.limit)
        assert cell["commands"] == commands(run.run, outcome)


def test_the_limits_of_a_trend_are_those_of_the_gates_on_the_primary_metric(page: Page) -> None:
    assert page.cell("triage_jira-zero_shot@script")["limits"] == [{"gate": ">= 0.9", "value": 0.9}]
    assert page.cell("triage_jira-option_scoring@script")["limits"] == []


def test_charts_are_those_of_the_record(run: Recorded, page: Page) -> None:
    for outcome, cell in zip(run.record["outcomes"], page.index["cells"], strict=True):
        matrix = cell["confusion"] or {"gold": [], "answers": [], "counts": []}
        counted = {
            gold: {answer: n for answer, n in zip(matrix["answers"], counts, strict=True) if n}
            for gold, counts in zip(matrix["gold"], matrix["counts"], strict=True)
        }
        assert counted == outcome["confusion"]
        assert (cell["calibration"] or {"bins": []})["bins"] == outcome["calibration"]
    assert page.cell("triage_jira-option_scoring@script")["calibration"]["bins"]


def test_points_and_distributions_count_the_predictions(run: Recorded, page: Page) -> None:
    for cell in page.index["cells"]:
        lines = run.predictions(cell["id"])
        if cell["points"]:
            pairs = Counter((float(each.gold), float(each.answer)) for each in lines if each.answer)
            points = cell["points"]
            assert dict(zip(zip(points["gold"], points["answer"], strict=True), points["n"], strict=True)) == pairs
        for each in cell["distributions"]:
            scores = [line.scores[each["metric"]] for line in lines]
            assert sum(each["counts"]) == sum(score is not None for score in scores)
    assert page.cell("estimation_tawos-zero_shot@script")["points"]["n"]
    assert page.cell("capitals-zero_shot@script")["distributions"]


def test_shifts_and_changes_are_those_of_the_record(run: Recorded, page: Page) -> None:
    shifts = {each["cell"]: each["shifts"] for each in run.record["robustness"]}
    assert any(shifts.values())
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


FLAGS: dict[int, Callable[[Prediction], bool]] = {
    encoding.RIGHT: lambda line: line.scores["loss"] == 0,
    encoding.PARSE_FAILURE: lambda line: line.answer is None,
    encoding.CUT_OFF: lambda line: line.finish in {"length", "context", "overflow"},
    encoding.SURE_AND_WRONG: lambda line: (
        line.probabilities is not None and max(line.probabilities.values()) >= 0.9 and line.scores["loss"] != 0
    ),
    encoding.LEFT_OUT: lambda _: False,
    encoding.SHORTENED: lambda _: False,
}
#: Flags that no answer of the run has.
ABSENT = {encoding.CUT_OFF, encoding.LEFT_OUT, encoding.SHORTENED}


@pytest.mark.parametrize("flag", FLAGS)
def test_flags_count_what_the_predictions_have(run: Recorded, page: Page, flag: int) -> None:
    counts = []
    for cell in page.index["cells"]:
        expected = {each.key for each in run.predictions(cell["id"]) if FLAGS[flag](each)}
        marked = zip(page.keys(cell["id"]), page.flags(cell["id"]), strict=True)
        assert {key for key, bits in marked if bits & flag} == expected
        counts.append(len(expected))
    assert bool(sum(counts)) == (flag not in ABSENT)


def test_flips_are_those_of_the_record(run: Recorded, page: Page) -> None:
    for outcome in run.record["outcomes"]:
        marked = list(zip(page.keys(outcome["cell"]), page.flags(outcome["cell"]), strict=True))
        for flag, better in ((encoding.FLIP_WORSE, False), (encoding.FLIP_BETTER, True)):
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
                answer = line.answer
                value = float(answer) if scenario["task"] == "regression" and answer else answer
                answers.setdefault(line.key, set()).add(value)
        for each in cells:
            marked = zip(page.keys(each), page.flags(each), strict=True)
            expected = {key for key in page.keys(each) if key and len(answers[key]) > 1}
            assert {key for key, bits in marked if bits & encoding.DIFFERS} == expected


def test_rows_have_the_answers_and_texts_of_the_predictions(run: Recorded, page: Page) -> None:
    for cell in page.index["cells"]:
        lines = {each.key: each for each in run.predictions(cell["id"])}
        keys, answers, entries = page.keys(cell["id"]), page.answers(cell["id"]), page.entries(cell["id"])
        rows = page.block(f"r{cell['scenario']}")
        assert {key for key in keys if key} == set(lines)
        for row, key in enumerate(keys):
            if key is None:
                continue
            line, entry = lines[key], entries[row]
            assert answers[row] == line.answer
            assert rows["gold"][row] == line.gold
            assert entry is not None
            assert (entry["replies"], entry["finish"], entry["failure"]) == (
                list(line.raw),
                line.finish,
                line.failure,
            )
            for label, share in (line.probabilities or {}).items():
                assert entry["probabilities"][label] == pytest.approx(share, rel=1e-3)


def test_prompts_are_put_together_to_those_that_were_asked(run: Recorded, page: Page) -> None:
    for cell in page.index["cells"]:
        lines = {each.key: each for each in run.predictions(cell["id"])}
        for row, key in enumerate(page.keys(cell["id"])):
            if key is not None:
                expected = whole_prompts(run.cell(cell["id"]).shared, lines[key].transcript.prompts)
                assert page.prompts(cell["id"], row) == [
                    [{"role": each.role, "content": each.content} for each in prompt] for prompt in expected
                ]


def test_the_parts_that_all_prompts_share_are_stored_once(page: Page) -> None:
    place = page.place("triage_jira-few_shot_3@script")
    (start,) = page.block(f"h{place}")["start"]
    (end,) = page.block(f"h{place}")["end"]
    assert len(start) > 1 or len(start[0][1]) > 300
    assert end.strip()
    pieces = page.block("s0")["pieces"]
    assert pieces
    assert len(pieces) == len(set(pieces))
    assert not any(piece.endswith(end) for piece in pieces)


def test_trials_of_a_sample_are_rows_of_their_own(tmp_path: Path) -> None:
    run = recorded(tmp_path, [repeats()])
    page = Page(as_page(run.run, run.path))
    (cell,) = page.index["cells"]
    lines = run.predictions(cell["id"])
    assert page.keys(cell["id"]) == [each.key for each in lines]
    assert page.index["scenarios"][0]["rows"] == len(lines) == 18
