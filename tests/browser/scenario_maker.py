"""One scenario of an invented report: its rows, its cells and the texts of their answers."""

from __future__ import annotations

import random
from typing import Any

from tests.browser.cell_numbers import CellNumbers
from tests.browser.shapes import (
    BETTER,
    DIFFERS,
    FAILED,
    LABELS,
    OVERFLOW,
    PRESENT,
    RIGHT,
    SURE,
    WORSE,
    Report,
    Shape,
)

_WORDS = (
    "login", "page", "export", "button", "timeout", "after", "upgrade", "customer", "reports", "that", "the",
    "server", "returns", "an", "error", "when", "two", "users", "open", "the", "same", "issue", "and", "the",
    "list", "of", "comments", "stays", "empty", "until", "reload", "since", "last", "release", "in", "the",
    "mobile", "client", "on", "slow", "networks",
)  # fmt: skip


class ScenarioMaker:
    """Makes one scenario of a report."""

    def __init__(self, made: Report, shape: Shape, chance: random.Random) -> None:
        self.made, self.shape, self.chance = made, shape, chance
        self.scenario = len(made.index["scenarios"])
        self.pieces: dict[str, int] = {}
        self.ids = [f"J-{100 + sample}" for sample in range(shape.samples) for _ in range(shape.trials)]
        self.questions = [self._sentence() for _ in range(shape.samples) for _ in range(shape.trials)]
        self.golds = [self._gold(row // shape.trials) for row in range(len(self.ids))]
        primary = {"classification": "f1_macro", "regression": "mae", "choice": "accuracy"}.get(shape.task, "rouge_l")
        better = "low" if shape.task == "regression" else "high"
        self.numbers = CellNumbers(shape=shape, primary=primary, better=better, golds=self.golds, chance=chance)

    def make(self) -> None:
        """Add the scenario, its cells and their blocks to the report."""
        shape, index = self.shape, self.made.index
        labels = list(LABELS) if shape.task == "classification" else []
        primary, better = self.numbers.primary, self.numbers.better
        entry = {"name": shape.name, "task": shape.task, "labels": labels, "ordered": True, "primary": primary}
        index["scenarios"].append({**entry, "better": better, "rows": len(self.ids), "cells": []})
        plain: dict[tuple[str, str], list[str | None]] = {}
        for model in shape.models:
            for strategy in shape.strategies:
                for perturbation in (None, *shape.perturbations):
                    before = plain.get((strategy, model))
                    answers = self._answers(before)
                    plain.setdefault((strategy, model), answers)
                    self._cell(strategy, perturbation, model, answers)
        self._mark_differing()
        self._link_shifts()
        self.made.blocks[f"r{self.scenario}"] = self._rows()
        if shape.texts:
            self.made.blocks[f"s{self.scenario}"] = {"pieces": list(self.pieces)}

    def _sentence(self) -> str:
        return f"{' '.join(self.chance.choices(_WORDS, k=self.shape.words)).capitalize()}."

    def _gold(self, sample: int) -> str:
        task = self.shape.task
        if task == "regression":
            return str((1, 2, 3, 5, 8, 13)[sample % 6])
        if task == "choice":
            return "ABCD"[sample % 4]
        return LABELS[(sample * 7) % 4] if task == "classification" else " ".join(self.chance.choices(_WORDS, k=6))

    def _answers(self, before: list[str | None] | None) -> list[str | None]:
        return [self._answer(row, before) for row in range(len(self.ids))]

    def _answer(self, row: int, before: list[str | None] | None) -> str | None:
        draw = self.chance.random()
        if before is not None and draw < 0.85:
            return before[row]
        if draw < 0.04:
            return None
        if draw < 0.6:
            return self.golds[row]
        return self._wrong(row)

    def _wrong(self, row: int) -> str:
        if self.shape.task == "regression":
            return str(max(1, int(self.golds[row]) + self.chance.randint(-3, 4)))
        if self.shape.task == "completion":
            return " ".join(self.chance.choices(_WORDS, k=8))
        return self.chance.choice("ABCD" if self.shape.task == "choice" else LABELS)

    def _cell(
        self,
        strategy: str,
        perturbation: str | None,
        model: str,
        answers: list[str | None],
    ) -> None:
        place = len(self.made.index["cells"])
        shown = strategy if perturbation is None else f"{strategy}+{perturbation}"
        tops = None if self.shape.task != "classification" else [round(self.chance.random(), 3) for _ in self.ids]
        flags, old = self._flags(answers, tops)
        table = list(dict.fromkeys([answer for answer in (*answers, *old.values()) if answer is not None]))
        places = {answer: index for index, answer in enumerate(table)}
        right = [flag & RIGHT != 0 for flag in flags]
        scores = {"rouge_l": [float(each) for each in right]} if self.shape.task == "completion" else {}
        self.made.flags.append(flags)
        self.made.index["scenarios"][self.scenario]["cells"].append(place)
        self.made.blocks[f"a{place}"] = {
            "table": table,
            "answers": [None if answer is None else places[answer] for answer in answers],
            "old": {str(row): None if answer is None else places[answer] for row, answer in old.items()},
            "top": tops,
            "scores": scores,
        }
        if self.shape.texts:
            self.made.blocks[f"h{place}"] = self._shared(strategy)
            self.made.blocks[f"t{place}"] = {
                "rows": [self._texts(strategy, perturbation, row, answer) for row, answer in enumerate(answers)]
            }
        value = sum(right) / max(1, len(right))
        names = {"scenario": self.scenario, "strategy": strategy, "perturbation": perturbation, "model": model}
        cell = f"{self.shape.name}-{shown}@{model}"
        self.made.index["cells"].append(
            {"id": cell, **names, "shown": shown, **self.numbers.of_cell(value), **self.numbers.charts(answers, tops)}
            | {
                "commands": {"reproduce": f"pytest benchmarks -k '{cell}'"},
                "change": self.numbers.change() if self.shape.baseline else None,
            }
        )

    def _flags(self, answers: list[str | None], tops: list[float] | None) -> tuple[list[int], dict[int, str | None]]:
        flags: list[int] = []
        old: dict[int, str | None] = {}
        for row, (answer, gold) in enumerate(zip(answers, self.golds, strict=True)):
            right = answer == gold
            flag = PRESENT | RIGHT * right | FAILED * (answer is None) | OVERFLOW * (self.chance.random() < 0.01)
            if self.shape.baseline and self.chance.random() < 0.06:
                flag |= BETTER if right else WORSE
                old[row] = self.chance.choice(LABELS) if right else gold
            if tops is not None and tops[row] >= 0.9 and not right:
                flag |= SURE
            flags.append(flag)
        return flags, old

    def _mark_differing(self) -> None:
        cells = self.made.index["scenarios"][self.scenario]["cells"]
        for row in range(len(self.ids)):
            blocks = [self.made.blocks[f"a{cell}"] for cell in cells]
            given = {None if (at := block["answers"][row]) is None else block["table"][at] for block in blocks}
            for cell in cells:
                self.made.flags[cell][row] |= DIFFERS * (len(given) > 1)

    def _rows(self) -> dict[str, Any]:
        trials = self.shape.trials
        choices = [["red", "green", "blue", "none of these"]] * len(self.ids) if self.shape.task == "choice" else None
        return {
            "ids": self.ids,
            "trials": [row % trials for row in range(len(self.ids))] if trials > 1 else None,
            "gold": self.golds,
            "references": [[gold, f"{gold} again"] for gold in self.golds] if self.shape.task == "completion" else None,
            "choices": choices,
            "groups": [{"project": "AB"[row % 2]} for row in range(len(self.ids))],
            "texts": [question[:120] for question in self.questions] if self.shape.texts else None,
        }

    def _shared(self, strategy: str) -> dict[str, Any]:
        task = "Answer with one of the labels: Blocker, Critical, Major, Minor."
        system = ["system", f"You are an experienced engineer. {task}"]
        shots = [
            message
            for number in range(3 if strategy.startswith("few") else 0)
            for message in (["user", f"Issue: example {number}\nPriority:"], ["assistant", LABELS[number]])
        ]
        turns = self.shape.turns
        return {"start": [[system, *shots, ["user", "Issue: "]]] * turns, "end": ["\nPriority:"] * turns}

    def _texts(self, strategy: str, perturbation: str | None, row: int, answer: str | None) -> dict[str, Any]:
        question = self.questions[row]
        shown = question if perturbation is None else question.replace("error", "eror").replace("page", "pgae")
        piece = self.pieces.setdefault(shown, len(self.pieces))
        reply = f"{answer}" if answer else "I am not sure what the priority is."
        if strategy == "few_shot_3":
            reply = f"Let me think. {self._sentence()} So the answer is: {reply}"
        texts: dict[str, Any] = {
            "replies": ["First I read the issue.", reply] if self.shape.turns > 1 else [reply],
            "prompts": [[[None, piece]]] * self.shape.turns,
            "finish": "stop" if row % 50 else "length",
            "failure": "no label" if answer is None else None,
            "parsed": None,
        }
        if strategy == "option_scoring" and self.shape.task == "classification":
            parts = [self.chance.random() for _ in LABELS]
            texts["probabilities"] = {label: part / sum(parts) for label, part in zip(LABELS, parts, strict=True)}
        if self.shape.task == "choice":
            texts["likelihoods"] = [[-self.chance.random() * 9, 1 + place] for place in range(4)]
            texts["unconditional"] = [[-self.chance.random() * 9, 1 + place] for place in range(4)]
            texts["order"] = [2, 0, 3, 1]
        if self.shape.judged:
            judge = {"role": "judge", "metric": "judge.conciseness"}
            texts["findings"] = [
                {**judge, "text": "It is one sentence long."},
                {**judge, "text": "", "verdicts": [["no", 0.25], ["yes", 0.75]]},
                {"role": "sandbox", "metric": "", "text": "AssertionError", "program": "assert answer() == 42"},
            ]
        return texts

    def _link_shifts(self) -> None:
        cells = self.made.index["cells"]
        for place in self.made.index["scenarios"][self.scenario]["cells"]:
            cell = cells[place]
            names = ("scenario", "strategy", "model")
            if cell["perturbation"] is None:
                cell["shifts"] = [
                    {"perturbation": other["perturbation"], "cell": at, "change": self.numbers.change()}
                    | {"fixed": 3, "broken": 9, "still_wrong": 2, "p": 0.02, "adjusted": 0.04}
                    for at, other in enumerate(cells)
                    if other["perturbation"] is not None and all(other[name] == cell[name] for name in names)
                ]
