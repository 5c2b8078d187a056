"""The example of eval-framework's guide, as its reader would write it, and rows for it."""

from __future__ import annotations

import json
from pathlib import Path

#: The class of the guide, with the three changed lines of import before it.
TASK = """
from typing import Any
from pytest_puma.compat.eval_framework import BaseTask
from pytest_puma.compat.eval_framework import ResponseType
from pytest_puma.compat.eval_framework import AccuracyCompletion

class GeographyQATask(BaseTask[str]):
    NAME = "GeographyQA"
    DATASET_PATH = "example/geography_qa"
    SAMPLE_SPLIT = "test"
    FEWSHOT_SPLIT = "train"
    RESPONSE_TYPE = ResponseType.COMPLETION
    METRICS = [AccuracyCompletion]
    SUBJECTS = ["Europe", "Asia"]

    def _get_instruction_text(self, item: dict[str, Any]) -> str:
        return f"Q: What's the capital of {item['country']}?"

    def _get_ground_truth(self, item: dict[str, Any]) -> str:
        return f"A: {item['capital']}."

    def _get_system_prompt_text(self, item: dict[str, Any]) -> str:
        return "Answer the geography questions accurately."

    def _get_cue_text(self, item: dict[str, Any]) -> str:
        return "A:"

    def _sample_fewshot_examples(self, item: dict[str, Any]) -> list[dict]:
        return self.rnd.sample(self.dataset[self.FEWSHOT_SPLIT], self.num_fewshot)
"""

_COUNTRIES = {
    "test": {
        "Europe": "Germany Berlin, France Paris, Italy Rome, Portugal Lisbon, Greece Athens, Hungary Budapest",
        "Asia": "Japan Tokyo, China Beijing, Iran Tehran, Lebanon Beirut, Jordan Amman, Indonesia Jakarta",
    },
    "train": {
        "Europe": "Spain Madrid, Austria Vienna, Poland Warsaw, Norway Oslo, Ireland Dublin",
        "Asia": "Nepal Kathmandu, Thailand Bangkok, Vietnam Hanoi, Iraq Baghdad, Syria Damascus",
    },
}


def rows(split: str, *subjects: str) -> list[dict[str, str]]:
    """The rows of a split."""
    return [
        dict(zip(("country", "capital"), pair.split(), strict=True), subject=subject)
        for subject, pairs in _COUNTRIES[split].items()
        if subject in subjects or not subjects
        for pair in pairs.split(", ")
    ]


def write_rows(path: Path, lines: list[dict[str, str]]) -> None:
    """A file in JSON Lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def write_splits(folder: Path) -> None:
    """A file for each split."""
    for split in _COUNTRIES:
        write_rows(folder / f"{split}.jsonl", rows(split))
