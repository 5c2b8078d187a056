"""One cell of a baseline: its measures for people, its answers for the comparison sample by sample."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pytest_puma.core import Outcome, Prediction, Usage

#: The measures of a clock: those of another machine or hour say nothing.
TIMED = ("latency_mean",)
#: Significant digits of a measure and of a probability: more would change with every processor.
_DIGITS = 6
_NUMBERS = ("value", "low", "high", "n")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A cell as it was. `measures` has the numbers of each metric, null for NaN; `test` is the id of its function.

    `commit` is the commit that the numbers come from, as in `main@3f2c1d9`, empty where there was none. `answers` are
    the predictions by sample id, without their texts.
    """

    cell: str
    commit: str
    test: str
    signature: Mapping[str, Any]
    measures: Mapping[str, Mapping[str, float | None]]
    answers: Mapping[str, Prediction]

    @classmethod
    def of(cls, outcome: Outcome, *, commit: str, test: str) -> Entry:
        """What is kept of an outcome."""
        measures = {
            name: {number: _rounded(getattr(measure, number)) for number in _NUMBERS}
            for name, measure in sorted(outcome.measures.items())
            if name not in TIMED
        }
        return cls(
            cell=outcome.cell,
            commit=commit,
            test=test,
            signature=outcome.signature,
            measures=measures,
            answers={prediction.sample_id: _kept(prediction) for prediction in outcome.predictions},
        )

    @property
    def scenario(self) -> str:
        """The name of the scenario, which has no hyphen."""
        return self.cell.partition("-")[0]

    @property
    def twin(self) -> str:
        """The cell itself, or, of a perturbed one, that of the samples as they are."""
        asked, _, model = self.cell.partition("@")
        return f"{asked.partition('+')[0]}@{model}"

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.cell.partition("@")[2]

    def changed(self, signature: Mapping[str, Any]) -> tuple[str, ...]:
        """What is no longer as it was, in words, where the cell's signature is this one now."""
        now, then = _parts(signature), _parts(self.signature)
        return tuple(name for name in now if now[name] != then[name])

    def head(self) -> dict[str, Any]:
        """For the file that people read."""
        return {"test": self.test, "commit": self.commit, "measures": self.measures, "signature": self.signature}

    def columns(self) -> dict[str, Any]:
        """For the file beside it."""
        answers = self.answers.values()
        known = [prediction.probabilities for prediction in answers]
        return {
            "ids": list(self.answers),
            "answers": [prediction.answer for prediction in answers],
            "finish": [prediction.finish for prediction in answers],
            "tokens": [_tokens(prediction.usage) for prediction in answers],
            "probabilities": known if any(known) else None,
        }

    @classmethod
    def read(cls, cell: str, head: Mapping[str, Any], columns: Mapping[str, Any]) -> Entry:
        """Back from `head` and `columns`; a `KeyError`, `TypeError` or `ValueError` where they are no such thing."""
        probabilities = columns["probabilities"] or [None] * len(columns["ids"])
        rows = zip(columns["ids"], columns["answers"], columns["finish"], columns["tokens"], probabilities, strict=True)
        answers = {
            sample_id: Prediction(
                sample_id=sample_id,
                gold="",
                answer=answer,
                finish=finish,
                usage=Usage(prompt_tokens=prompt, cached_tokens=cached, decoded_tokens=decoded),
                probabilities=known,
            )
            for sample_id, answer, finish, (prompt, cached, decoded), known in rows
        }
        return cls(
            cell=cell, answers=answers, **{name: head[name] for name in ("commit", "test", "signature", "measures")}
        )


def _parts(signature: Mapping[str, Any]) -> dict[str, object]:
    """What people would call by a name; threads, drivers and versions are all the engine."""
    engine = dict(signature["engine"])
    weights = engine.pop("weights_sha256", None)
    return {
        "the data": (signature["data"] or {}).get("sha256"),
        "the prompt template": signature["template_sha256"],
        "the model": weights,
        "the seed": signature["seed"],
        "the way of decoding": signature["generation"],
        "the engine": engine,
    }


def _kept(prediction: Prediction) -> Prediction:
    """What a comparison needs; the gold is that of the data when it is made."""
    known = prediction.probabilities
    rounded = known and {label: float(f"{value:.{_DIGITS}g}") for label, value in known.items()}
    return Prediction(
        sample_id=prediction.sample_id,
        gold="",
        answer=prediction.answer,
        probabilities=rounded,
        finish=prediction.finish,
        usage=prediction.usage,
    )


def _tokens(usage: Usage) -> tuple[int, int, int]:
    return usage.prompt_tokens, usage.cached_tokens, usage.decoded_tokens


def _rounded(number: float) -> float | None:
    return None if math.isnan(number) else float(f"{number:.{_DIGITS}g}") if isinstance(number, float) else number
