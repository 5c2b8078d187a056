"""Instruction following as in IFEval (Zhou et al. 2023, arXiv 2311.07911): 25 kinds of instruction, checked by rules.

A kind is a function of a reply and its arguments, with an entry in `KINDS`.
"""

from pytest_puma.metrics.library.ifeval.kinds import KINDS
from pytest_puma.metrics.library.ifeval.metrics import METRICS, Instruction, read_instructions, variants

__all__ = ["KINDS", "METRICS", "Instruction", "read_instructions", "variants"]
