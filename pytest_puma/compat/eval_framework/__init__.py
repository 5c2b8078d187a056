"""Tasks of eval-framework as scenarios: import its names from here, and put the class into a marker.

from pytest_puma.compat.eval_framework import AccuracyCompletion, BaseTask, ResponseType

class GeographyQATask(BaseTask[str]):
    NAME = "GeographyQA"
    ...

@pytest.mark.puma(GeographyQATask, strategies=["few_shot_3"])
def test_geography(puma): ...

Every metric class of eval-framework that has a counterpart can be imported, and is its own name: see `metrics`.
"""

from typing import TYPE_CHECKING, Any

from pytest_puma.compat.eval_framework.metrics import CLASSES, unknown_class
from pytest_puma.compat.eval_framework.nouns import (
    NO_SUBJECT,
    BaseMetricContext,
    Language,
    Message,
    ResponseType,
    Role,
    Sample,
)
from pytest_puma.compat.eval_framework.styles import BPBStyle, ClozeStyle, MCCompletionStyle, MCStyle, TaskStyler
from pytest_puma.compat.eval_framework.task import BaseTask

__all__ = [
    "NO_SUBJECT",
    "BPBStyle",
    "BaseMetricContext",
    "BaseTask",
    "ClozeStyle",
    "Language",
    "MCCompletionStyle",
    "MCStyle",
    "Message",
    "ResponseType",
    "Role",
    "Sample",
    "TaskStyler",
]

if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name in CLASSES:
            return name
        if name.startswith("_"):
            msg = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(msg)
        # An AttributeError would become an ImportError without the reason.
        raise ImportError(unknown_class(name, __all__), name=__name__)
