"""Kinds of tasks. Code elsewhere uses the scenario's kind, and never compares `task_type`.

Imports nothing of ours. A new kind is one class and one entry in `KINDS`. A form of answers of its own is added to
`Form`, to the columns of `metrics.table` and to the metrics of `metrics.catalogue`. Texts that a metric scores need
none: their kind is `scored`.
"""

from collections.abc import Mapping

from pytest_puma.task_types.completion import Completion
from pytest_puma.task_types.kind import Form, TaskKind
from pytest_puma.task_types.listed import Classification, MultipleChoice
from pytest_puma.task_types.regression import Regression

__all__ = ["KINDS", "Form", "TaskKind"]

#: By `task_type`.
KINDS: Mapping[str, TaskKind] = {
    kind.name: kind for kind in (Classification(), Regression(), MultipleChoice(), Completion())
}
