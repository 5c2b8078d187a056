"""Styles: how a raw question and its choices become a prompt, and which strategy asks it.

class ARC(BaseTask[str]):
    TASK_STYLER = MCStyle.for_language(Language.DEU, space_prefixed_labels=True)

    def _get_raw_question(self, item): return item["question"]
    def _get_choices(self, item): return item["choices"]
    def _get_correct_index(self, item): return item["answer"]

A task without `METRICS` has those of its style.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from pytest_puma.compat.eval_framework.author import Author
from pytest_puma.compat.eval_framework.nouns import Language, ResponseType
from pytest_puma.core import SettingsError
from pytest_puma.replies.letters import lettered

if TYPE_CHECKING:
    from typing_extensions import Self

#: The text before the question, and the cue, of each language that has its own.
_WORDS = {Language.ENG: ("Question: ", "Answer:"), Language.DEU: ("Frage: ", "Antwort:")}
_WITH_ABSTENTION = (
    *("AccuracyLoglikelihood", "AccuracyNormLoglikelihood", "ConfidenceWeightedAccuracy"),
    *("DistributionalCorrectnessScore", "TernaryScore"),
)
#: Methods of eval-framework's styles that are not called here, as a strategy does their work.
_NOT_CALLED = ("get_instruction_text", "get_ground_truth", "get_possible_completions", "get_fewshot_target_text")


@dataclass(frozen=True)
class TaskStyler:
    """The base of all styles. `initial_prompt`: from the subject to the text before the first message.

    `strategy`: without examples. `with_examples`: the same with examples, without their number.
    """

    response_type: ClassVar[ResponseType] = ResponseType.LOGLIKELIHOODS
    strategy: ClassVar[str]
    with_examples: ClassVar[str]
    default_metrics: ClassVar[tuple[str, ...]]

    question_prefix: str = "Question: "
    cue_text: str = "Answer:"
    initial_prompt: Callable[[str], str] | None = field(default=None, kw_only=True)
    abstention: str | None = field(default=None, kw_only=True)

    def __init_subclass__(cls) -> None:
        """Refuse overrides that would have no effect."""
        if name := next((name for name in _NOT_CALLED if name in vars(cls)), None):
            msg = (
                f"{cls.__name__} overrides {name}, which is not called: the strategy words choices and answers; "
                f"expected get_question_text or get_cue_text; or override _{name} of the task"
            )
            raise SettingsError(msg)

    @classmethod
    def for_language(cls, language: Language, **arguments: Any) -> Self:
        """Return the style with the words of a language, English for one without its own."""
        prefix, cue = _WORDS.get(language, _WORDS[Language.ENG])
        return cls(**({"question_prefix": prefix, "cue_text": cue} | arguments))

    def with_abstention_option(self, abstention_option: str) -> Self:
        """Return the style with one more choice for "I don't know"."""
        return replace(self, abstention=abstention_option)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The metrics of a task that declares none."""
        return self.default_metrics if self.abstention is None else _WITH_ABSTENTION

    def get_question_text(self, raw_question: str) -> str:
        """Return the line of the question."""
        return f"{self.question_prefix}{raw_question}"

    def get_cue_text(self) -> str:
        """Return the beginning of the reply."""
        return self.cue_text


@dataclass(frozen=True)
class MCStyle(TaskStyler):
    """Choices are shown, and their letters scored."""

    strategy, with_examples = "option_scoring", "option_scoring"
    default_metrics = ("AccuracyLoglikelihood",)

    space_prefixed_labels: bool = False


@dataclass(frozen=True)
class MCCompletionStyle(MCStyle):
    """Choices are shown, and the model writes the text of one."""

    response_type = ResponseType.COMPLETION
    strategy, with_examples = "zero_shot", "few_shot"
    default_metrics = ("AccuracyCompletion",)


@dataclass(frozen=True)
class ClozeStyle(TaskStyler):
    """Choices are not shown, and their texts scored."""

    strategy, with_examples = "cloze_scoring", "cloze_scoring"
    default_metrics: ClassVar[tuple[str, ...]] = (
        "AccuracyLoglikelihood",
        "AccuracyNormLoglikelihood",
        "BitsPerByteLoglikelihood",
    )

    trailing_newline: bool = True
    leading_space_continuations: bool = True


@dataclass(frozen=True)
class BPBStyle(ClozeStyle):
    """Only the right choice is scored."""

    response_type = ResponseType.COMPLETION
    strategy, with_examples = "zero_shot", "few_shot"
    default_metrics = ("BitsPerByteLoglikelihood",)


class Styled(Author):
    """The texts of a task by its style."""

    TASK_STYLER: ClassVar[TaskStyler]

    def _get_instruction_text(self, item: dict[str, Any]) -> str:
        """The question; with the choices if the model writes the text of one."""
        shown = self._get_choices(item) if isinstance(self.TASK_STYLER, MCCompletionStyle) else ()
        question = self.TASK_STYLER.get_question_text(self._get_raw_question(item))
        return "\n".join(filter(None, (question, self._with_labels(lettered(shown)))))

    def _get_ground_truth(self, item: dict[str, Any]) -> str:
        return self._get_choices(item)[self._get_correct_index(item)]

    def _get_possible_completions(self, item: dict[str, Any]) -> list[str]:
        abstention = self.TASK_STYLER.abstention
        return [*self._get_choices(item), *(() if abstention is None else (abstention,))]

    def _get_cue_text(self, item: dict[str, Any]) -> str:  # noqa: ARG002 - of the method that it overrides
        return self.TASK_STYLER.get_cue_text()

    def _get_initial_prompt_text(self, item: dict[str, Any]) -> str:
        preamble = self.TASK_STYLER.initial_prompt
        return "" if preamble is None else preamble(str(item.get("subject", "")))


def declared(owner: str, style: Any, metrics: Sequence[Any]) -> dict[str, Any]:
    """Return the attributes of a task that follow from its style. Raises a `SettingsError` for one that is none."""
    if not isinstance(style, TaskStyler):
        msg = f"{owner}: TASK_STYLER is {style!r}; expected an instance, such as MCStyle()"
        raise SettingsError(msg)
    limit = {"max_tokens": 1} if isinstance(style, BPBStyle) else {}  # its reply is not read
    joined = {} if getattr(style, "leading_space_continuations", True) else {"delimiter": ""}
    return {"METRICS": tuple(metrics) or style.metrics, "RESPONSE_TYPE": style.response_type, **limit, **joined}
