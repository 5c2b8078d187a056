"""The methods of a scenario, by those of a task's author.

Texts are compared without surrounding space: the space between cue and answer belongs to neither.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from pytest_puma.compat.eval_framework.context import Row, arguments, translated
from pytest_puma.compat.eval_framework.metrics import class_name
from pytest_puma.compat.eval_framework.nouns import NO_SUBJECT
from pytest_puma.compat.eval_framework.rows import SUBJECT, TaskRows, subject_text
from pytest_puma.core import DataError
from pytest_puma.replies.answers import after_cue, begins_with

#: The columns of the samples that `_create_samples` makes of a row, and the author's method for every other row.
_METHODS = {
    "created_instruction": "_get_instruction_text",
    "created_system": "_get_system_prompt_text",
    "created_cue": "_get_cue_text",
    "created_truth": "_get_ground_truth",
    "created_completions": "_get_possible_completions",
    "created_context": "_get_context",
}
#: Metrics that take the language from the ground truth or the context alone.
_OWN_LANGUAGE = frozenset({"LanguageChecker", "NIAHAccuracy"})


class Mapped(TaskRows):
    """The part that completions and choices have in common."""

    #: A ground truth with the cue was reported.
    _warned: bool = False

    # -- the prompt ------------------------------------------------------------------------------

    def system(self, item: dict[str, Any]) -> str:
        """Return the system message."""
        return self._value(item, "created_system") or ""

    def preamble(self, item: dict[str, Any]) -> str:
        """Return the text before the first message; that of a created sample has it."""
        return "" if "created_instruction" in item else self._get_initial_prompt_text(item)

    def cue(self, item: dict[str, Any]) -> str:
        """Return the beginning of the reply."""
        return self._value(item, "created_cue") or ""

    def user_message(self, item: dict[str, Any]) -> str:
        """Return the message of the user."""
        return str(self._value(item, "created_instruction"))

    def _value(self, item: dict[str, Any], column: str) -> Any:
        """The value of a created sample, else that of the author's method for the row."""
        return item[column] if column in item else getattr(self, _METHODS[column])(item)

    def _get_fewshot_target_text(self, item: dict[str, Any]) -> str:
        """The answer of an example: by default the cue and the first ground truth, whether that has the cue or not."""
        truths = self.truths(item)
        if not truths:
            msg = f"{type(self).__name__}: an example has no ground truth; override _get_fewshot_target_text"
            raise DataError(msg)
        return " ".join(filter(None, (self.cue(item).rstrip(), truths[0])))

    def pick_examples(self, item: dict[str, Any], k: int, random: Random) -> Sequence[dict[str, Any]] | None:
        """Return the examples that the author draws; None if the author has no own method."""
        if not self._overrides("_sample_fewshot_examples"):
            return None
        self.num_fewshot, self.rnd, self.dataset = k, random, self._dataset(item)
        picked = [dict(example) for example in self._sample_fewshot_examples(dict(item))]
        fault = f"{len(picked)} rows; expected {k}, as num_fewshot" if len(picked) != k else ""
        if item in picked:
            fault = "the row that is evaluated; leave it out"
        if fault:
            msg = f"{type(self).__name__}: _sample_fewshot_examples returned {fault}"
            raise DataError(msg)
        group = {SUBJECT: item[SUBJECT]} if self.group_columns else {}
        return [example | group for example in picked]

    # -- the answers -----------------------------------------------------------------------------

    def truths(self, item: dict[str, Any]) -> Sequence[str]:
        """Return the ground truths without the cue: the right texts, or those of the right choices."""
        return self._answers(item)[0]

    def context(self, instance: dict[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of metrics, and the question as `original`."""
        return self._answers(instance)[1]

    def without_cue(self, text: str, cue: str) -> str:
        """Return a ground truth without the cue at its beginning; the first one is reported."""
        if not begins_with(text, cue):
            return text.strip()
        rest = after_cue(text, cue)
        if not self._warned:
            self._warned = True
            msg = (
                f"puma: {type(self).__name__}: the ground truth {text!r} begins with the cue {cue!r}, after which a "
                f"reply continues. No reply would equal it: the cue is cut off, and {rest!r} is expected; return the "
                "truth without the cue from _get_ground_truth"
            )
            warnings.warn(msg, UserWarning, stacklevel=2)
        return rest

    def _answers(self, item: dict[str, Any]) -> Row:
        """The ground truths that metrics compare with, and the arguments of metrics."""
        truth = self._value(item, "created_truth")
        texts = () if truth is None else (truth,) if isinstance(truth, str) else tuple(truth)
        truths = tuple(self.without_cue(text, self.cue(item)) for text in texts)
        context = arguments(self._value(item, "created_context"))
        given = {"original": self.user_message(item), **self._spoken(item), **context}
        return translated([class_name(metric) for metric in self.METRICS], truths, given)

    def _spoken(self, item: dict[str, Any]) -> dict[str, str]:
        """The `language` of a row by `LANGUAGE`: that of the task or of its subject; of two, the target's."""
        spoken: Any = self.LANGUAGE
        if isinstance(spoken, Mapping):
            subject, languages = item.get(SUBJECT, NO_SUBJECT), {subject_text(key): spoken[key] for key in spoken}
            if subject not in languages:
                msg = f"{type(self).__name__}: LANGUAGE has no subject {subject!r}; it has {', '.join(languages)}"
                raise DataError(msg)
            spoken = languages[subject]
        spoken = spoken[-1] if isinstance(spoken, tuple) else spoken
        own = not _OWN_LANGUAGE.isdisjoint(map(class_name, self.METRICS))
        return {} if spoken is None or own else {"language": spoken.value}
