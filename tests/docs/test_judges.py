"""The page about judges against the rubrics."""

from __future__ import annotations

import inspect
import re

from pytest_puma.judges import JUDGED, rubric
from pytest_puma.judges.rubrics import RUBRICS
from tests.docs.reference import ROOT, names_in

PAGE = (ROOT / "docs" / "judges.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| `.*\|$", PAGE, re.MULTILINE)]


def test_the_page_has_a_row_for_each_rubric_with_what_it_declares() -> None:
    documented = [row for row in ROWS if row[0].startswith("`judge.")]
    assert [names_in(row[0])[0] for row in documented] == list(JUDGED)
    for row, asked, metric in zip(documented, RUBRICS, JUDGED.values(), strict=True):
        (question, *_) = asked.questions.values()
        assert metric.bounds is not None
        span = f"{metric.bounds[0]:g} to {metric.bounds[1]:g}"
        assert row[2:] == [", ".join(asked.shows), span, asked.better, ", ".join(question.texts)]
        assert {name.removeprefix(".") for name in names_in(row[1])} == set(metric.parts)


def test_the_page_has_each_argument_of_a_rubric_with_its_default() -> None:
    documented = {names_in(row[0])[0]: row[2] for row in ROWS if len(row) == 3}
    parameters = inspect.signature(rubric).parameters
    assert list(documented) == [name for name in parameters if name != "name"]
    for name, parameter in parameters.items():
        if name not in {"name", "question", "scale"}:
            assert documented[name].strip("`").replace('"', "'") == repr(parameter.default)
