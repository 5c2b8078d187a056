"""Benchmarks and CI gates for local LLMs, as plain pytest.

`Scenario` is the contract of a task of one's own, `FileScenario` the one to inherit when its rows lie in a file;
`CompletionScenario` and `ChoiceScenario` compose their prompts from methods. A `Strategy` is a way of asking, a
`Perturbation` a change of the texts. Names are imported when they are used: pytest imports this package in every
project. `load_run` gives a run of the past as pandas frames. `ControlVector` reads and makes the files of
`steer=`, `Variant`, `steer` and `lora` variants of a model.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_puma.core import (
        Answer,
        Choice,
        Conversation,
        Metric,
        Outcome,
        Pool,
        Prediction,
        Sample,
        Scenario,
        Trial,
        Variant,
        ask,
        ask_all,
        metric,
    )
    from pytest_puma.judges import rubric
    from pytest_puma.models.control_vector import ControlVector
    from pytest_puma.models.controls import hook, lora, quant, steer
    from pytest_puma.perturbations import Group, Perturbation
    from pytest_puma.runs.loaded import LoadedRun, load_run
    from pytest_puma.scenarios.choice import ChoiceScenario
    from pytest_puma.scenarios.completion import CompletionScenario
    from pytest_puma.scenarios.file import FileScenario
    from pytest_puma.strategies import Strategy, Task

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "Choice",
    "ChoiceScenario",
    "CompletionScenario",
    "ControlVector",
    "Conversation",
    "FileScenario",
    "Group",
    "LoadedRun",
    "Metric",
    "Outcome",
    "Perturbation",
    "Pool",
    "Prediction",
    "Sample",
    "Scenario",
    "Strategy",
    "Task",
    "Trial",
    "Variant",
    "ask",
    "ask_all",
    "hook",
    "load_run",
    "lora",
    "metric",
    "quant",
    "rubric",
    "steer",
]

_ELSEWHERE = {
    "ChoiceScenario": "pytest_puma.scenarios.choice",
    "CompletionScenario": "pytest_puma.scenarios.completion",
    "ControlVector": "pytest_puma.models.control_vector",
    "FileScenario": "pytest_puma.scenarios.file",
    "Group": "pytest_puma.perturbations",
    "LoadedRun": "pytest_puma.runs.loaded",
    "Perturbation": "pytest_puma.perturbations",
    "Strategy": "pytest_puma.strategies",
    "Task": "pytest_puma.strategies",
    "hook": "pytest_puma.models.controls",
    "load_run": "pytest_puma.runs.loaded",
    "lora": "pytest_puma.models.controls",
    "quant": "pytest_puma.models.controls",
    "rubric": "pytest_puma.judges",
    "steer": "pytest_puma.models.controls",
}


def __getattr__(name: str) -> object:
    if name not in __all__:
        msg = f"module 'pytest_puma' has no attribute {name!r}"
        raise AttributeError(msg)
    return getattr(import_module(_ELSEWHERE.get(name, "pytest_puma.core")), name)
