"""Programs that a model wrote, run with their tests in the sandbox of `--puma-run-code`.

The program is the text of the prediction. The `context` of a sample has its `tests`: lines, or a list of them, that
raise if the program is wrong; and optionally `setup`, lines before them; `prelude`, the text before the program;
`seconds` and `megabytes`, the limits of computing and memory; `packages`, whether the tests import what is installed;
and `programming_language`, that of the program and the tests, by its name in MultiPL-E.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias

from pytest_puma.core import Metric, Prediction, Program, Ran, Sample, SettingsError
from pytest_puma.core.programming_language import PYTHON

_Score: TypeAlias = Generator[Program, Ran, float]


def runs(sample: Sample, prediction: Prediction) -> _Score:
    """Return 1 if the program runs to its end without its tests, else 0; an answer that is missing does not run."""
    if prediction.answer is None:
        return 0.0
    ran = yield _program(sample, prediction.text)
    return float(ran.passed)


def tests_passed(sample: Sample, prediction: Prediction) -> _Score:
    """Return 1 if the program passes all its tests, else 0."""
    ran = yield _tested(sample, prediction)
    return float(ran.passed)


def prints_true(sample: Sample, prediction: Prediction) -> _Score:
    """Return 1 if the program runs to its end and the last word that it prints is True, else 0."""
    ran = yield _program(sample, prediction.text)
    return float(ran.passed and ran.output.split()[-1:] == ["True"])


def timeout_rate(sample: Sample, prediction: Prediction) -> _Score:
    """Return 1 if the program was ended at its limit of time in its tests, else 0."""
    ran = yield _tested(sample, prediction)
    return float(ran.timed_out)


def _tested(sample: Sample, prediction: Prediction) -> Program:
    tests = sample.context.get("tests")
    if not tests:
        msg = f"sample {sample.id!r} has no tests; expected lines of a program as 'tests' in what context(item) returns"
        raise SettingsError(msg)
    lines = tests if isinstance(tests, str) else "\n".join(tests)
    # The program comes first: it may begin with an import from __future__.
    return _program(sample, "\n\n".join((prediction.text, sample.context.get("setup", ""), lines)))


def _program(sample: Sample, text: str) -> Program:
    context = sample.context
    limits = {name: context[name] for name in ("seconds", "megabytes", "packages") if name in context}
    return Program(
        text=context.get("prelude", "") + text, language=context.get("programming_language", PYTHON), **limits
    )


def _metric(score: Callable[[Sample, Prediction], _Score], **declared: str) -> Metric:
    settings = {"needs": {"sandbox"}, "kinds": {"completion"}, **declared}
    return Metric(name=score.__name__, score=score, **settings)  # type: ignore[arg-type]


METRICS = (_metric(tests_passed), _metric(runs), _metric(prints_true), _metric(timeout_rate, better="low"))
