"""The page of the metric library against the library, and its example."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from pytest_puma.core import Metric
from pytest_puma.metrics.library import LIBRARY
from tests.docs.reference import ROOT, example, names_in
from tests.integration.conftest import Project

PAGE = (ROOT / "docs" / "reference" / "metrics-library.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in row.split("|")[1:-1]] for row in re.findall(r"^\| `.*\|$", PAGE, re.MULTILINE)]
#: The row of each metric, without the first column.
DOCUMENTED = {name: row[1:] for row in ROWS for name in names_in(row[0])}


def test_the_page_has_each_metric_of_the_library_once_and_no_other() -> None:
    assert sorted(name for row in ROWS for name in names_in(row[0])) == sorted(LIBRARY)


@pytest.mark.parametrize("metric", [*LIBRARY.values()], ids=lambda metric: metric.name)
def test_a_row_has_what_its_metric_declares(metric: Metric) -> None:
    value, _, tasks, span, better, extra = DOCUMENTED[metric.name]
    assert value
    assert (tasks, better, extra) == (", ".join(sorted(metric.kinds)) or "all", metric.better, metric.extra)
    if metric.bounds is None:
        assert re.fullmatch(r"from -?\d+|any", span)
    else:
        assert span == f"{metric.bounds[0]:g} to {metric.bounds[1]:g}"


def test_the_example_scores_replies_and_reports_what_gates_name(pytester: pytest.Pytester, gguf: Path) -> None:
    pytester.makeini("[pytest]")
    rows = [{"text": f"Invoice {n}: {n} euros", "fields": {"total": n, "currency": "EUR"}} for n in range(10, 50)]
    (pytester.path / "invoices.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    project = Project(pytester, gguf, workers=0)
    project.write(
        test_invoices=example("python", name="test_invoices.py"),
        conftest="""
        import json
        import re

        from pytest_puma.testing import ScriptedBackend

        def reply(prompt):
            number = int(re.findall(r"Invoice ([0-9]+)", prompt)[-1])
            if number < 15:
                return "I cannot read it."
            value = json.dumps({"total": number + (number % 4 == 0), "currency": "EUR"})
            return f"Sure: {value}" if number < 18 else value

        def pytest_puma_backend(model):
            return ScriptedBackend(reply)
        """,
    )
    project.run(f"--puma-model=scripted={project.model}", model=False).assert_outcomes(passed=1)
    measures = project.record()["outcomes"][0]["measures"]
    values = {name: measures[name]["value"] for name in ("json.schema", "json.only", "json.equal", "total_error")}
    assert values == pytest.approx(
        {"json.schema": 35 / 40, "json.only": 32 / 40, "json.equal": 26 / 40, "total_error": 8 / 32}
    )
    assert "json.valid" not in measures
    assert measures["total_error"]["n"] == 32
