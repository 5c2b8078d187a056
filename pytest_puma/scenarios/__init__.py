"""The built-in scenarios, and the parts of an own scenario.

Importing this package loads no pandas; rows are read on first use.
"""

from pytest_puma.core import Scenario
from pytest_puma.datasets.fields import hidden_fields, text_fields
from pytest_puma.datasets.sampling import draw, example_rows
from pytest_puma.scenarios.estimation_tawos import EstimationTawosScenario
from pytest_puma.scenarios.file import FileScenario
from pytest_puma.scenarios.jira import (
    PrioritizationJiraBothOrdersScenario,
    PrioritizationJiraScenario,
    TriageJiraScenario,
)

#: The scenarios that come with the package, by name.
BUILTIN: dict[str, type[Scenario]] = {
    scenario.name: scenario
    for scenario in (
        TriageJiraScenario,
        EstimationTawosScenario,
        PrioritizationJiraScenario,
        PrioritizationJiraBothOrdersScenario,
    )
}

__all__ = [
    "BUILTIN",
    "EstimationTawosScenario",
    "FileScenario",
    "PrioritizationJiraBothOrdersScenario",
    "PrioritizationJiraScenario",
    "TriageJiraScenario",
    "draw",
    "example_rows",
    "hidden_fields",
    "text_fields",
]
