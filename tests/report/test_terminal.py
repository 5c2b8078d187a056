from __future__ import annotations

import math
from dataclasses import replace

import pytest

from pytest_puma.core import Outcome, Speed, StoreShare, Usage, Verdict
from pytest_puma.core.gate import Status
from pytest_puma.report import notes
from pytest_puma.report.markdown import as_markdown
from pytest_puma.report.rows import COLUMNS, all_rows, metric_rows, number
from pytest_puma.report.table import titles
from pytest_puma.report.terminal import summary
from tests.factories import change, measure, outcome, revised, run, verdict

RATES = {
    "mae": measure("mae", 2.0, 1.25, 3.5, n=40),
    "rmse": measure("rmse", 3.0, 2.0, 4.0, n=40, note="n under 30"),
    "parse_failure_rate": measure("parse_failure_rate", 0.04, 0.0, 0.1),
}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.12345, "0.123"),
        (0.0, "0"),
        (1.0, "1.00"),
        (12.345, "12.35"),
        (1234.5, "1.23e+03"),
        (-0.0, "0"),
        (math.nan, "-"),
    ],
)
def test_numbers_have_three_digits_or_two_places(value: float, text: str) -> None:
    assert number(value) == text


def test_a_cell_is_a_row_and_each_further_metric_another() -> None:
    whole = outcome(
        measures=RATES,
        metrics=("mae", "rmse", "ece"),
        usage=Usage(prompt_tokens=900, cached_tokens=400),
        speed=Speed(prefill_tokens=500),
    )
    lines = summary(run(whole), ".puma/runs/r", 200)
    assert lines[2].split() == [
        "triage",
        "zero_shot",
        "m",
        "40",
        "mae",
        "2.00",
        "[1.25,",
        "3.50]",
        "4%",
        "500",
        "0.0",
        "-",
    ]
    assert lines[3].split() == ["40", "rmse", "3.00*", "[2.00,", "4.00]"]
    assert lines[4:] == ["* n under 30 (rmse of triage-zero_shot@m)", "predictions: .puma/runs/r"]


def test_a_star_of_a_naive_baseline_alone_has_its_footnote_too() -> None:
    noted = measure("mae", 2.0, 1.25, 3.5, n=40, note="n under 30")
    whole = outcome(measures=RATES, metrics=("mae",), naive_baselines={"mean": {"mae": noted}})
    assert notes.footnotes([revised(whole, naive_baselines={"mean": {"mae": RATES["mae"]}})]) == []
    footnote = "* n under 30 (mae of naive.mean in triage)"
    assert footnote in summary(run(whole), "", 200)
    assert f"- \\{footnote}" in as_markdown(run(whole)).splitlines()


def test_notes_that_differ_in_numbers_alone_are_one_line_with_a_count() -> None:
    def noted(cell: str, note: str) -> Outcome:
        gates = (verdict("accuracy >= 0.5"), verdict("accuracy >= 0.6"))
        return outcome(cell, measures=RATES | {"accuracy": measure(note=note)}, verdicts=gates)

    cells = [noted(f"triage-few_shot_{n}@m", f"one sample is {n}% of all that differs") for n in (3, 5, 8)]
    assert notes.footnotes([*cells, noted("triage-egi@m", "no error was seen")]) == [
        "* one sample is 3% of all that differs (accuracy of triage-few_shot_3@m and 2 more)",
        "* no error was seen (accuracy of triage-egi@m)",
    ]


def _column(name: str, outcomes: Outcome) -> list[str]:
    return [row[titles(COLUMNS).index(name)] for row in all_rows([outcomes])]


def test_each_gate_has_a_row_with_its_verdict_and_its_limit() -> None:
    fall = change(old=0.76, new=0.66, value=-0.1)
    whole = outcome(
        verdicts=(
            verdict("accuracy >= 0.6"),
            verdict("accuracy >= baseline - 0.02", "FAIL", change=fall),
            verdict("accuracy >= baseline * 0.9 !fail", "INCONCLUSIVE", change=replace(fall, quotient=True)),
            verdict("accuracy >= naive.majority", change=replace(fall, new=0.65)),
            verdict("parse_failure_rate <= 0.05"),
            verdict("no_regression", "FAIL", p=0.003),
            verdict("no_drift", "NO BASELINE"),
        )
    )
    assert _column("metric", whole) == ["accuracy"] * 4 + ["parse_failure_rate", "no_regression", "no_drift"]
    assert _column("verdict", whole) == ["PASS", "FAIL", "INCONCLUSIVE", "PASS", "PASS", "FAIL", "NO BASELINE"]
    assert _column("value", whole) == ["0.66"] * 4 + ["0", "p=0.003", "-"]
    assert _column("gate", whole) == [
        ">= 0.6",
        ">= baseline - 0.02 (0.74)",
        ">= baseline * 0.9 (0.684) !fail",
        # The change is over other samples than the value.
        ">= naive.majority",
        "<= 0.05",
        "p > 0.05",
        "",
    ]


def test_the_limit_of_a_row_is_on_the_side_that_its_verdict_says() -> None:
    fall = change(old=0.76, new=0.66, value=-0.1)
    gates = (verdict("accuracy >= 0.6"), verdict("accuracy >= baseline - 0.02", "FAIL", change=fall))
    kept, missed = metric_rows([outcome(verdicts=gates)])
    assert [kept.limit, missed.limit] == pytest.approx([0.6, 0.74])


def test_the_seconds_of_kept_answers_are_no_time_of_the_model() -> None:
    kept = StoreShare(responses=50, kept=50, together=True, runs=("r",))
    cells = [
        outcome(seconds=82.04),
        outcome(seconds=1.1, kept=kept),
        outcome(seconds=30.0, kept=replace(kept, kept=20)),
        outcome(seconds=82.04, kept=replace(kept, kept=0)),
        outcome(seconds=0.2, signature={"data": None, "engine": {"answers": "a.jsonl"}}),
    ]
    assert [_column("s", each) for each in cells] == [["82.0"], ["kept"], ["30.0 + kept"], ["82.0"], ["read"]]


def test_the_throughput_of_a_model_is_that_of_the_cells_that_were_computed() -> None:
    usage = Usage(prompt_tokens=900, cached_tokens=400, decoded_tokens=100)
    whole = outcome(usage=usage, speed=Speed(prefill_tokens=500, decode_tokens=100), seconds=4.0)
    kept = revised(whole, seconds=0.1, kept=StoreShare(responses=50, kept=50, together=True, runs=("r",)))
    reread = revised(whole, seconds=0.1, speed=Speed())
    assert notes.throughputs([whole, revised(whole, seconds=6.0), kept, reread]) == [
        "throughput: m: 10.00 answers and 120 tokens a second"
    ]
    measured = [revised(whole, peak_memory=size << 20) for size in (300, 400)]
    assert notes.throughputs([*measured, whole]) == [
        "throughput: m: 12.50 answers and 150 tokens a second, 400 MB of memory at the peak of its process"
    ]
    assert notes.throughputs([kept, reread]) == []
    assert _column("s", reread) == ["read"]


def _limit(metric: str, status: Status) -> Verdict:
    return verdict(f"{metric} <= 2", status)


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        (
            [("rmse", "FAIL"), ("parse_failure_rate", "PASS")],
            [("mae", "-"), ("rmse", "FAIL"), ("parse_failure_rate", "PASS")],
        ),
        ([("mae", "PASS"), ("parse_failure_rate", "FAIL")], [("mae", "PASS"), ("parse_failure_rate", "FAIL")]),
        ([("parse_failure_rate", "PASS")], [("mae", "-"), ("parse_failure_rate", "PASS")]),
        ([], [("mae", "-")]),
    ],
)
def test_a_verdict_stands_only_beside_the_metric_that_its_gate_is_about(
    verdicts: list[tuple[str, Status]], expected: list[tuple[str, str]]
) -> None:
    whole = outcome(measures=RATES, metrics=("mae",), verdicts=tuple(_limit(*each) for each in verdicts))
    assert list(zip(_column("metric", whole), _column("verdict", whole), strict=True)) == expected


def test_on_eighty_columns_a_row_keeps_its_n_and_what_all_rows_of_a_cell_share_is_a_line_above() -> None:
    fall = change(old=0.76, new=0.66, value=-0.1)
    gates = (
        verdict("accuracy >= 0.6"),
        verdict("accuracy >= baseline - 0.02", "FAIL", change=fall),
        verdict("parse_failure_rate <= 0.05"),
    )
    whole = outcome("triage_jira-few_shot_3@qwen2.5-3b-instruct", verdicts=gates)
    assert summary(run(whole), "", 80)[:6] == [
        " n  metric              value  95 % interval  verdict  gate",
        "--  ------------------  -----  -------------  -------  -------------------------",
        "triage_jira, few_shot_3, qwen2.5-3b-instruct, 0% parse failures",
        "50  accuracy             0.66  [0.52, 0.77]   PASS     >= 0.6",
        "50  accuracy             0.66  [0.52, 0.77]   FAIL     >= baseline - 0.02 (0.74)",
        "50  parse_failure_rate      0  [0, 0.07]      PASS     <= 0.05",
    ]


def test_the_strategy_of_a_perturbed_cell_is_shown_with_its_perturbation() -> None:
    whole = outcome("triage-zero_shot+case_upper@m", measures=RATES, metrics=("mae",))
    lines = summary(run(whole), "", 200)
    assert lines[2].split()[:3] == ["triage", "zero_shot+case_upper", "m"]


def test_trivial_programs_stand_behind_the_last_cell_of_their_scenario_a_perturbed_one_too() -> None:
    plain = outcome(measures=RATES, metrics=("mae",), naive_baselines={"mean": {"mae": RATES["mae"]}})
    perturbed = outcome("triage-zero_shot+case_upper@m", measures=RATES, metrics=("mae",))
    lines = summary(run(plain, perturbed), "", 200)
    assert [line.split()[1] for line in lines[2:5]] == ["zero_shot", "zero_shot+case_upper", "naive.mean"]
