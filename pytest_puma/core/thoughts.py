"""The marks around a model's thoughts, and replies with these marks in one spelling.

    <|channel|>analysis<|message|>Nobody can log in.<|end|><|start|>assistant<|channel|>final<|message|>Critical
    <think>Nobody can log in.</think>Critical

A reply shows its thoughts between `<think>` and `</think>`, whatever the model writes, so that parsers and reports know
one spelling. Thoughts that the prompt opened get their first tag, too: a reply that is cut off inside has no answer.
"""

from __future__ import annotations

from dataclasses import dataclass

OPEN, CLOSE = "<think>", "</think>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thoughts:
    """The marks that a model may write after a prompt; all are empty if it has none.

    `begun`: the prompt ends inside thoughts. `answer`: the mark of an answer without thoughts.
    """

    open: str = ""
    close: str = ""
    begun: bool = False
    answer: str = ""

    def shown(self, text: str) -> str:
        """Return a reply with its thoughts between `<think>` and `</think>`."""
        for mark, tag in ((self.open, OPEN), (self.close, CLOSE)):
            if mark and mark != tag:
                text = text.replace(mark, tag)
        return f"{OPEN}{text}" if self.begun else text.removeprefix(self.answer)

    def unfinished(self, text: str) -> bool:
        """Whether a reply so far ends inside thoughts."""
        if not self.close:
            return False
        opened = text.rfind(self.open) if self.open else -1
        closed = text.rfind(self.close)
        return opened > closed or (self.begun and closed < 0)

    def goes_on(self, text: str, end: str) -> bool:
        """Whether a token that ends turns ends only the thoughts of a reply so far: their mark begins with it."""
        return bool(end) and self.close.startswith(end) and self.unfinished(text)
