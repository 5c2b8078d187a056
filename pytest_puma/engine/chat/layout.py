"""The layout of a model's turn, from the renderings of short chats.

    question   ...puma-question<|end|><|start|>assistant
    answered   ...puma-question<|end|><|start|>assistant<|channel|>final<|message|>puma-answer<|return|>

An answer begins behind the text that only the second one has, and ends with the token behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_puma.core.backend import CLOSE, OPEN, Thoughts
from pytest_puma.core.shared import common_prefix

#: The contents of the short chats. No template of a model prints them, and none cuts a whole word.
QUESTION, ANSWER, THOUGHT, NEXT = "puma-question", "puma-answer", "puma-thought", "puma-next"
#: Marks around thoughts, for templates that do not show them in the history of a chat.
_KNOWN = (
    (OPEN, CLOSE),
    ("[THINK]", "[/THINK]"),
    ("<|channel>thought", "<channel|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("<seed:think>", "</seed:think>"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """The place of an answer in a model's turn.

    `tail`: the end of a prompt behind the question; `start`: the text from there to the answer, without the blanks of
    `joint`: most vocabularies put these in the next word. `around`: the texts before and behind thoughts. `after`: the
    texts behind an answer. `known`: the template shows the answer of a chat.
    """

    tail: str
    start: str = ""
    joint: str = ""
    around: tuple[str, str] = ("", "")
    after: tuple[str, ...] = ()
    thoughts: Thoughts = field(default_factory=Thoughts)
    known: bool = False

    def to_answer(self, text: str, thoughts: str = "") -> str:
        """Return a prompt up to the place where an answer begins, behind these thoughts of the model, or none."""
        if thoughts:
            opening, closing = self.around
            begun = opening and text.rstrip().endswith(opening.strip())
            # The model may have written the blanks behind its mark.
            opening = opening.rstrip() if thoughts[0].isspace() else opening
            return f"{text}{'' if begun else opening}{thoughts}{closing}"
        if text.endswith(self.tail):
            return f"{text}{self.start}"
        # A switch in a message changes the end of the prompt, as `/think` does for SmolLM3.
        opening, closing = _known_marks("", text)
        return f"{text}{_closing(text, closing)}" if opening else text

    def facts(self) -> Mapping[str, str]:
        """Return the layout in words."""
        thoughts = self.thoughts
        return {
            "answer after": repr(f"{self.tail}{self.start}{self.joint}") if self.known else "unknown",
            "thoughts": f"{thoughts.open!r} to {thoughts.close!r}" if thoughts.close else "none known",
        }


def layout_of(source: str, question: str, *, answered: str, thought: str, followed: str) -> Layout:
    """Return the layout that a template and its renderings of four chats show; "" for a chat that it refused.

    `question` ends where the model continues; `answered` has an answer, `thought` also thoughts before it, `followed`
    an answer and a second question.
    """
    known = ANSWER in answered
    before, _, behind = answered.partition(ANSWER) if known else ("", "", "")
    opening, closing = around = _marks(question, thought)
    begun = _is_open(question, thought, closing)
    if not closing:
        opening, closing = _known_marks(source, question)
        around = (opening, f"\n{closing}\n\n") if closing else ("", "")
        if begun := bool(opening) and question.rstrip().endswith(opening):
            closing = _closing(question, closing)
    start = _between(question, before, begun=begun, closing=closing)
    words = start.rstrip(" ")
    return Layout(
        tail=question[question.lower().rfind(QUESTION) + len(QUESTION) :],
        start=words,
        joint=start[len(words) :],
        around=around,
        after=(behind, followed.partition(ANSWER)[2].partition(NEXT)[0]),
        thoughts=Thoughts(
            open=opening.strip() or _partner(closing.strip()),
            close=closing.strip(),
            begun=begun,
            answer="" if begun or (closing and closing.strip() in words) else words,
        ),
        known=known,
    )


def _marks(question: str, thought: str) -> tuple[str, str]:
    """The texts around thoughts: behind the prompt, unless it has the first one itself; both empty if none show."""
    before, _, behind = thought.partition(THOUGHT)
    closing = behind.partition(ANSWER)[0]
    return (before[len(_common(question, before)) :], closing) if closing.strip() else ("", "")


def _known_marks(source: str, question: str) -> tuple[str, str]:
    """The known marks at the end of a prompt, or in the template; both empty if there are none."""
    ending = (pair for pair in _KNOWN if question.rstrip().endswith(pair[0]))
    spelled = (pair for pair in _KNOWN if all(mark in source for mark in pair))
    return next(ending, None) or next(spelled, ("", ""))


def _partner(closing: str) -> str:
    """The mark that opens what this one closes; "" if that is unknown."""
    opening = closing.replace("</", "<") if closing.startswith("</") else ""
    return next((pair[0] for pair in _KNOWN if closing.startswith(pair[1])), opening)


def _is_open(question: str, thought: str, closing: str) -> bool:
    """Whether the prompt ends inside thoughts: it has all that comes before them, and nothing of what ends them."""
    before = thought.partition(THOUGHT)[0]
    if not closing or not question.startswith(before):
        return False
    rest = question[len(before) :].strip()
    return not rest or not (closing.strip() in rest or closing.strip().startswith(rest))


def _between(question: str, before: str, *, begun: bool, closing: str) -> str:
    """The text from the end of a prompt to the answer; `before` is what precedes the answer in a chat that has one."""
    common = _common(question, before)
    left, right = question[len(common) :], before[len(common) :]
    if begun:
        return right if right and not left else closing
    if right.strip() and "".join(left.split()).endswith("".join(right.split())):
        # The same words between other blanks.
        return "" if left[-1:].isspace() else right[len(right.rstrip()) :]
    return "" if left.endswith(right) else right


def _common(first: str, second: str) -> str:
    """The common beginning of two texts, without half a tag."""
    common = first[: common_prefix(first, second)]
    tag = common.rfind("<")
    return common[:tag] if tag > common.rfind(">") and common not in {first, second} else common


def _closing(text: str, mark: str) -> str:
    """The text that closes empty thoughts, as published templates do."""
    return f"{'' if text.endswith(chr(10)) else chr(10)}\n{mark}\n\n"
