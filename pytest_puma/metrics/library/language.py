"""Metrics of the language in which a reply is written. A language is a code of ISO 639-1, as `de`."""

from __future__ import annotations

from typing import Any

from pytest_puma.core import Metric, Prediction, Sample, SettingsError
from pytest_puma.metrics.languages import canonical, known_languages, language_of
from pytest_puma.metrics.library.arguments import argument


def language(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if the reply is in the expected language; a reply without letters is in none.

    The context has it as `language`, else the groups; else each reference is a language. None without any.
    """
    expected = _expected(sample)
    for code in expected:
        if not isinstance(code, str) or canonical(code) not in known_languages():
            msg = (
                f"language: sample {sample.id!r} expects {code!r}; expected one of "
                f"{', '.join(sorted(known_languages()))}; return language from the scenario's context(item)"
            )
            raise SettingsError(msg)
    codes = frozenset(map(canonical, expected))
    return float(language_of(prediction.text, also=codes) in codes) if codes else None


def same_as_prompt(sample: Sample, prediction: Prediction) -> float | None:
    """Return 1 if the reply is in the language of the context's `original`; None if either has no letters."""
    return _same("language.same_as_prompt", sample, prediction.text)


def same_as_prompt_raw(sample: Sample, prediction: Prediction) -> float | None:
    """Return the same of the last response as the model wrote it, before the scenario reads it."""
    return _same("language.same_as_prompt.raw", sample, prediction.raw[-1] if prediction.raw else "")


def _expected(sample: Sample) -> tuple[Any, ...]:
    for given in (sample.context, sample.groups):
        if "language" in given:
            return (given["language"],)
    return sample.references


def _same(metric: str, sample: Sample, reply: str) -> float | None:
    original = argument(
        sample,
        "original",
        metric=metric,
        expected="the text of the question",
        valid=lambda value: isinstance(value, str),
    )
    expected = language_of(original)
    if expected is None:
        return None
    if not reply.strip():
        return 0.0
    written = language_of(reply)
    return None if written is None else float(written == expected)


METRICS = tuple(
    Metric(name=name, score=score, extra="lang", kinds=frozenset({"completion"}))
    for name, score in (
        ("language", language),
        ("language.same_as_prompt", same_as_prompt),
        ("language.same_as_prompt.raw", same_as_prompt_raw),
    )
)
