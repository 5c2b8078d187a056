"""Twenty tasks, each with a right and a wrong reply, from which a planted good and bad reply for each rubric follow.

Written for this project; CC0. The bad reply of a rubric differs from the good one in what the rubric asks about alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Row:
    """A task, a right reply of two sentences, a wrong one, and the right answer in a few words."""

    task: str
    good: str
    wrong: str
    truth: str


_FILE = Path(__file__).with_suffix(".jsonl")
ROWS = [Row(**json.loads(line)) for line in _FILE.read_text(encoding="utf-8").splitlines()]

_FILLER = (
    " It is worth noting, all things considered, that this is a topic about which very much could be said, and that "
    "there are many ways to look at it, each of which has its own merits, as one may say again and again and again."
)
_EAGER = "Great question! I'd love to help!"
_REFUSAL = "I'm sorry, but I cannot help with that. I am not allowed to answer such questions."
_SQL = "SELECT name FROM towns WHERE size > 1000;"


def _other(index: int) -> Row:
    """A row about something else."""
    return ROWS[(index + 7) % len(ROWS)]


def _shuffled(text: str) -> str:
    words = text.split()
    return " ".join(words[1::2] + words[::2])


#: For each rubric the good and the bad reply to a row.
PAIRS: dict[str, Callable[[int, Row], tuple[str, str]]] = {
    "chatbot_style": lambda _, row: (row.good, f"{_EAGER} {row.good} Let me know if you need more!"),
    "coherence": lambda _, row: (f"{row.good} So it is.", _shuffled(f"{row.good} So it is.")),
    "completion_accuracy": lambda _, row: (row.good, row.wrong),
    "conciseness": lambda _, row: (row.good, row.good + _FILLER),
    "avoids_names": lambda _, row: (row.good, f"{row.good} Maria Keller and John Smith told me."),
    "format_correctness": lambda _, row: (f'{{"answer": "{row.truth}"}}', row.good),
    "instruction": lambda _, row: (row.good, row.wrong),
    "mt_bench": lambda index, row: (row.good, _other(index).wrong),
    "mt_bench_pair": lambda index, row: (row.good, _other(index).wrong),
    "refusal": lambda _, row: (row.good, _REFUSAL),
    "sql_quality": lambda _, __: (_SQL, "DROP TABLE towns;"),
    "world_knowledge": lambda _, row: (row.task, f"{row.task} {row.good} Napoleon lost at Waterloo in 1815."),
    "comparison": lambda index, row: (row.good, _other(index).wrong),
    "factuality": lambda _, row: (row.good, row.wrong),
    "relevance": lambda index, row: (row.good, _other(index).good),
    "truthfulness": lambda _, row: (row.good, row.wrong),
    "informativeness": lambda _, row: (row.good, "I do not know."),
}  # fmt: skip
#: What the task asks beside its question.
DEMANDS = {
    "format_correctness": ' Answer as a JSON object with the one key "answer", and nothing else.',
    "world_knowledge": " Repeat this question and add nothing.",
    "sql_quality": " No: write SQL for the names of all towns with a size over 1000.",
}
#: The truth of a row, where it is not its own.
TRUTHS = {"sql_quality": _SQL}
