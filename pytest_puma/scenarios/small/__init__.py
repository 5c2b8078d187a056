"""The scenarios of the small data sets: one of each kind of task, in `data/*.jsonl`."""

from pytest_puma.scenarios.composed import ComposedScenario
from pytest_puma.scenarios.small import choices, completions, search

__all__ = ["SMALL_SETS"]

_CLASSES: tuple[type[ComposedScenario], ...] = (
    completions.CapitalsScenario,
    completions.ArithmeticWordScenario,
    choices.CommonsenseMiniScenario,
    choices.KnowledgeMiniScenario,
    completions.FormatsScenario,
    completions.InstructionsMiniScenario,
    search.NeedleScenario,
    search.CommonWordsScenario,
    completions.TranslateMiniScenario,
    completions.SummariesMiniScenario,
    completions.DialogueMiniScenario,
)

#: By name, in the order of the data's README.
SMALL_SETS: dict[str, type[ComposedScenario]] = {scenario.name: scenario for scenario in _CLASSES}
