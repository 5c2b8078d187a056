"""The table of variants in the terminal, and the sentences below it."""

from __future__ import annotations

from dataclasses import replace

from pytest_puma.core import Run, Shift
from pytest_puma.report import variants
from tests.report.page.swept import swept

DIFFER = "Holm and an interval may differ: "


def shown(run: Run) -> list[str]:
    return variants.lines(run, 200)


def test_nothing_breaks_where_no_answer_was_right() -> None:
    columns = [column.title for column in variants.columns(swept(plain=(0,), loud=(20,)))]
    (row,) = variants.rows(swept(plain=(0,), loud=(20,)))
    assert dict(zip(columns, row, strict=True))["broken"] == "-"
    (row,) = variants.rows(swept(plain=(1,), loud=(20,)))
    assert dict(zip(columns, row, strict=True))["broken"] == "0%"


def test_where_holm_and_the_interval_differ_a_sentence_says_why() -> None:
    run = swept(plain=(20,), loud=(38,))
    assert not any(line.startswith(DIFFER) for line in shown(run))
    (result,) = run.variants
    (shift,) = result.shifts
    assert shift.change.low > 0

    def with_p(adjusted: float) -> Run:
        shifts: tuple[Shift, ...] = (replace(shift, adjusted=adjusted),)
        return replace(run, variants=(replace(result, shifts=shifts),))

    assert sum(line.startswith(DIFFER) for line in shown(with_p(0.2))) == 1
    assert not any(line.startswith(DIFFER) for line in shown(with_p(0.01)))
