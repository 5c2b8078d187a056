"""The scenarios of the small data sets: one of each kind of task, in `data/*.jsonl`."""

from pytest_puma.scenarios.composed import ComposedScenario
from pytest_puma.scenarios.small.arithmetic_word import ArithmeticWordScenario
from pytest_puma.scenarios.small.capitals import CapitalsScenario
from pytest_puma.scenarios.small.common_words import CommonWordsScenario
from pytest_puma.scenarios.small.commonsense_mini import CommonsenseMiniScenario
from pytest_puma.scenarios.small.dialogue_mini import DialogueMiniScenario
from pytest_puma.scenarios.small.formats import FormatsScenario
from pytest_puma.scenarios.small.instructions_mini import InstructionsMiniScenario
from pytest_puma.scenarios.small.knowledge_mini import KnowledgeMiniScenario
from pytest_puma.scenarios.small.needle import NeedleScenario
from pytest_puma.scenarios.small.summaries_mini import SummariesMiniScenario
from pytest_puma.scenarios.small.translate_mini import TranslateMiniScenario

__all__ = ["SMALL_SETS"]

_CLASSES: tuple[type[ComposedScenario], ...] = (
    CapitalsScenario,
    ArithmeticWordScenario,
    CommonsenseMiniScenario,
    KnowledgeMiniScenario,
    FormatsScenario,
    InstructionsMiniScenario,
    NeedleScenario,
    CommonWordsScenario,
    TranslateMiniScenario,
    SummariesMiniScenario,
    DialogueMiniScenario,
)

#: By name, in the order of the data's README.
SMALL_SETS: dict[str, type[ComposedScenario]] = {scenario.name: scenario for scenario in _CLASSES}
