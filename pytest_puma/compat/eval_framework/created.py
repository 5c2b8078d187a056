"""The samples that `_create_samples` makes of a row, as rows of their own: their texts are columns beside the row's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pytest_puma.compat.eval_framework.contexts import arguments
from pytest_puma.compat.eval_framework.nouns import Role, Sample
from pytest_puma.core import DataError

INSTRUCTION = "created_instruction"
SYSTEM = "created_system"
CUE = "created_cue"
TRUTH = "created_truth"
COMPLETIONS = "created_completions"
CONTEXT = "created_context"


def row_of(item: Mapping[str, Any], sample: Sample) -> dict[str, Any]:
    """Return the row of a created sample. A `DataError` refuses a chat with more than one message of the user."""
    roles = [message.role for message in sample.messages]
    core = [role for role in roles if role is not Role.SYSTEM]
    if core not in ([Role.USER], [Role.USER, Role.ASSISTANT]):
        shown = ", ".join(role.value for role in roles) or "none"
        msg = f"_create_samples made a sample with messages of {shown}; expected one user, perhaps with others around"
        raise DataError(msg)
    texts = {message.role: message.content for message in sample.messages}
    return {
        **item,
        INSTRUCTION: texts[Role.USER],
        SYSTEM: texts.get(Role.SYSTEM, ""),
        CUE: texts.get(Role.ASSISTANT, ""),
        TRUTH: sample.ground_truth,
        COMPLETIONS: sample.possible_completions,
        CONTEXT: arguments(sample.context),
    }


def value(item: dict[str, Any], column: str, method: Callable[[dict[str, Any]], Any]) -> Any:
    """Return the value of a created sample, else that of the author's method for the row."""
    return item[column] if column in item else method(item)
