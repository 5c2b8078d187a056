"""Strategies: ways of asking. Each is a generator that yields requests, receives responses, and returns an answer.

A strategy is named as in `few_shot_3`: hyphens and case do not matter, and K is any number in `few_shot_K`,
`few_shot_similar_K`, `few_shot_diverse_K`, `cot_few_shot_K`, `self_consistency_K`, `best_of_K`, `guided_K`, `budget_K`,
`option_scoring_K`, `cloze_scoring_K`, `text_scoring_K` and `constrained_K`. One strategy has one name: `few_shot` is
`few_shot_3`, `few_shot_1` is `one_shot`, `cot_few_shot_3` is `cot_few_shot`, `self_consistency` is
`self_consistency_5`.
"""

from pytest_puma.strategies.catalogue import ALL, Strategy, is_built_in, parse_strategy, resolve_generation
from pytest_puma.strategies.failure import failure_of
from pytest_puma.strategies.own_templates import templated
from pytest_puma.strategies.task import Task

__all__ = ["ALL", "Strategy", "Task", "failure_of", "is_built_in", "parse_strategy", "resolve_generation", "templated"]
