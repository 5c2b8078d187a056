"""Metrics of IFEval: whether a reply follows the instructions of its prompt, strictly or loosely.

context = {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from pytest_puma.core import Metric, Pool, Prediction, Sample
from pytest_puma.metrics.library.arguments import argument
from pytest_puma.metrics.library.ifeval.instruction import Instruction, read_instructions
from pytest_puma.metrics.statistic import divide
from pytest_puma.stats.arrays import Values

_Check: TypeAlias = Callable[[Instruction, str], bool]
_KINDS = frozenset({"completion"})


def _prompt(metric: str, check: _Check) -> Callable[[Sample, Prediction], float]:
    """Return the score function: 1 if the reply follows all instructions."""

    def score(sample: Sample, prediction: Prediction) -> float:
        return float(all(check(each, prediction.text) for each in _instructions(metric, sample)))

    return score


def _instruction(metric: str, check: _Check) -> Callable[[Sample, Prediction], tuple[float, float]]:
    """Return the score function: the number of instructions that the reply follows, and of all."""

    def score(sample: Sample, prediction: Prediction) -> tuple[float, float]:
        instructions = _instructions(metric, sample)
        return float(sum(check(each, prediction.text) for each in instructions)), float(len(instructions))

    return score


def _share(sums: Values) -> Values:
    """Return the followed share of the instructions of all prompts."""
    return divide(sums[:, 0], sums[:, 1])


def _instructions(metric: str, sample: Sample) -> tuple[Instruction, ...]:
    ids, kwargs = (
        argument(sample, name, metric=metric, expected=f"a list of {what}", valid=_is_list)
        for name, what in (("instruction_id_list", "kinds of instructions"), ("kwargs", "their arguments"))
    )
    return read_instructions(f"{metric}: sample {sample.id!r}", ids, kwargs)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


METRICS = (
    *(
        Metric(name=name, score=_prompt(name, check), extra="lang", kinds=_KINDS)
        for name, check in (("ifeval.prompt", Instruction.strict), ("ifeval.prompt.loose", Instruction.loose))
    ),
    *(
        Metric(name=name, score=_instruction(name, check), pool=Pool(2, _share), extra="lang", kinds=_KINDS)
        for name, check in (("ifeval.instruction", Instruction.strict), ("ifeval.instruction.loose", Instruction.loose))
    ),
)
