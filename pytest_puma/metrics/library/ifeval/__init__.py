"""Instruction following as in IFEval (Zhou et al. 2023, arXiv 2311.07911): 25 kinds of instruction, checked by rules.

A kind is a function of a reply and its arguments, with an entry in the `KINDS` of its module.
"""

from pytest_puma.metrics.library.ifeval.instruction import KINDS, Instruction, read_instructions, variants
from pytest_puma.metrics.library.ifeval.metrics import METRICS

__all__ = ["KINDS", "METRICS", "Instruction", "read_instructions", "variants"]
