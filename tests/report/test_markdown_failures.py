"""Failures in Markdown, above the table."""

from __future__ import annotations

from pytest_puma.core import Invocation
from pytest_puma.report.markdown import as_markdown
from tests.factories import fault, outcome, run, verdict


def test_a_failed_cell_has_the_commands_for_it_below_its_last_failure() -> None:
    invocation = Invocation(command="pytest benchmarks -k triage --puma-model=m.gguf --puma-report=html:r.html")
    under = verdict("accuracy >= 0.9", "FAIL", "accuracy 0.66 is under 0.9")
    worse = verdict("no_regression", "FAIL", "a regression (p = 0.01)")
    cells = (
        outcome(verdicts=(under, worse), node_id="t.py::t[a]"),
        outcome("b@m", verdicts=(under,), node_id="t.py::b"),
    )
    text = as_markdown(run(*cells, faults=(fault("c@m"),), invocation=invocation))
    assert text.split("\n\n")[1].splitlines() == [
        "- **FAIL** `triage-zero_shot@m`: accuracy 0.66 is under 0.9",
        "- **FAIL** `triage-zero_shot@m`: no_regression: a regression (p = 0.01)",
        "  - reproduce: `pytest 't.py::t[a]' --puma-model=m.gguf`",
        "  - accept: `pytest 't.py::t[a]' --puma-model=m.gguf --puma-update-baseline`",
        "- **FAIL** `b-@m`: accuracy 0.66 is under 0.9",
        "  - reproduce: `pytest t.py::b --puma-model=m.gguf`",
        "- **ERROR** `c@m`: no",
        "  - reproduce: `pytest t.py::c --puma-model=m.gguf`",
    ]


def test_a_run_with_only_an_error_is_reported() -> None:
    text = as_markdown(run(faults=(fault(),)))
    assert text == "### puma: 1 error\n\n- **ERROR** `b@m`: no\n  - reproduce: `pytest t.py::b`\n"
