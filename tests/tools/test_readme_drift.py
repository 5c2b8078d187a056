"""Which differences between a printed and a present output count."""

from __future__ import annotations

import pytest
from tabulate import tabulate

from tools.readme_drift import settled

ROW = {
    "scenario": "estimation_tawos",
    "strategy": "few_shot_3",
    "n": "50",
    "metric": "mae",
    "value": "2.50*",
    "95 % interval": "[0, 5.20]",
    "parse failures": "60%",
    "tokens": "10,000",
    "s": "0.9",
    "verdict": "PASS",
}
SECOND_METRIC = dict.fromkeys(ROW, "") | {
    "n": "50",
    "metric": "accuracy",
    "value": "0.5",
    "95 % interval": "[0.4, 0.6]",
}


def _table(cells: dict[str, str]) -> list[str]:
    """A table as pytest-puma prints it, each column as wide as its widest cell, and what stands below it."""
    align = ["right" if name in {"n", "value", "parse failures", "tokens", "s"} else "left" for name in ROW]
    rows = [ROW | cells, SECOND_METRIC]
    text = tabulate(rows, headers="keys", disable_numparse=True, tablefmt="simple", colalign=align)
    return [*text.splitlines(), "* rests on few answers", "a gate: mae 2.50 n=50 is under 2"]


# -- markers and blocks ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("printed", "current"),
    [
        ("== 12 passed in 23.26s ==", "===== 12 passed in 9.05s ====="),
        ("== 12 passed in 59.99s ==", "== 12 passed in 60.02s (0:01:00) =="),
        ("0.60s call     test_all.py", "12.00s call     test_all.py"),
        ("mae 2.1 [1.9, 2.4] n=50 is over 2", "mae 2.2 [1.8, 2.5] n=50 is over 2"),
        ("predictions: .puma/runs/20261122T003532-25507", "predictions: .puma/runs/20270101T000000-9"),
        ("kept answers: 66 of 100 of 2 cells, from run r", "kept answers: 7 of 100 of 2 cells, from run r"),
        ("16 of 50 answers kept from run r; the rest", "48 of 50 answers kept from run r; the rest"),
        ("test_all.py ....  [ 33%]", "test_all.py ....     [33%]"),
        ("______ test_all ______", "_ test_all _"),
        ("* one sample is 12% of all (mae of a-b@q and 6 more)", "* one sample is 15% of all (mae of a-c@q)"),
        (
            "throughput: q: 12.5 answers and 340 tokens a second",
            "throughput: q: 9.10 answers and 2,100 tokens a second",
        ),
    ],
)
def test_a_line_with_the_same_content_stays_as_printed(printed: str, current: str) -> None:
    assert settled([current], [printed]) == [printed]


@pytest.mark.parametrize(
    ("printed", "current"),
    [
        ("== 12 passed in 23.26s ==", "== 11 passed, 1 failed in 23.26s =="),
        ("== 12 passed in 23.26s ==", "__ 12 passed in 23.26s __"),
        ("test_all.py ....  [ 33%]", "test_all.py ...F  [ 33%]"),
        ("test_all.py ....  [ 33%]", "test_all.py ....  [ 34%]"),
        ("predictions: .puma/runs/20261122T003532-25507", "predictions: runs/20261122T003532-25507"),
        ("f1_macro 0.129 is under 0.45", "f1_macro 0.129 is under 0.46"),
        ("kept answers: 66 of 100 of 2 cells, from run r", "kept answers: 66 of 50 of 2 cells, from run r"),
        ("kept answers: 66 of 100 of 2 cells, from run r", "kept answers: all 100 of 2 cells, from run r"),
    ],
)
def test_a_line_with_other_content_is_drift(printed: str, current: str) -> None:
    assert settled([current], [printed]) == [current]


@pytest.mark.parametrize(
    ("column", "current"),
    [
        ("value", "2.75*"),
        ("value", "2.25*"),
        ("95 % interval", "[0.05, 5.72]"),
        ("parse failures", "66%"),
        ("tokens", "10,200"),
        ("tokens", "9,800"),
        ("s", "1234.5"),
    ],
)
def test_a_cell_that_depends_on_near_ties_or_on_the_clock_may_differ_a_little(column: str, current: str) -> None:
    assert settled(_table({column: current}), _table({})) == _table({})


@pytest.mark.parametrize(
    ("column", "current"),
    [
        ("strategy", "few_shot_4"),
        ("n", "49"),
        ("metric", "rmse"),
        ("value", "2.76*"),
        ("value", "2.50"),
        ("value", "-"),
        ("95 % interval", "[0.06, 5.20]"),
        ("95 % interval", ""),
        ("parse failures", "67%"),
        ("tokens", "10,201"),
        ("s", "-"),
        ("verdict", "FAIL"),
        ("verdict", "NOT RUN"),
    ],
)
def test_a_cell_with_other_content_is_drift_of_its_row_alone(column: str, current: str) -> None:
    now, printed = _table({column: current}), _table({})
    assert settled(now, printed) == [*printed[:2], now[2], *printed[3:]]


@pytest.mark.parametrize(("printed", "current", "alike"), [("0.3", "0.35", True), ("0.3", "0.36", False)])
def test_a_small_number_may_differ_by_five_hundredths(printed: str, current: str, *, alike: bool) -> None:
    now, before = _table({"value": current}), _table({"value": printed})
    assert (settled(now, before) == before) is alike


@pytest.mark.parametrize(("n", "alike"), [("17", True), ("30", False)])
def test_of_few_samples_one_other_answer_is_no_drift(n: str, *, alike: bool) -> None:
    now = _table({"n": n, "value": "0.0588*", "95 % interval": "[0.0086, 0.31]"})
    before = _table({"n": n, "value": "0.12*", "95 % interval": "[0.01, 0.40]"})
    assert (settled(now, before) == before) is alike


def test_names_above_rows_are_no_end_of_a_table() -> None:
    def named(cells: dict[str, str]) -> list[str]:
        head, rule, *rows = _table(cells)
        return [head, rule, "prioritization_jira_both_orders, puma-tiny, 0% parse failures", *rows]

    assert settled(named({"value": "2.52*"}), named({})) == named({})


def test_a_table_ends_with_the_first_line_that_is_no_row() -> None:
    now = [line.replace("mae 2.50 n", "mae 2.51 n") for line in _table({})]
    assert settled(now, _table({})) == now


@pytest.mark.parametrize("at", range(2, 6))
def test_a_missing_and_a_new_line_are_drift_and_the_others_are_not(at: int) -> None:
    now, printed = _table({"s": "99.9"}), _table({})
    assert settled([*now[:at], *now[at + 1 :]], printed) == [*printed[:at], *printed[at + 1 :]]
    assert settled(now, [*printed[:at], *printed[at + 1 :]])[at] == now[at]


# -- running ---------------------------------------------------------------------------------------
