"""Invented reports in the format of the page's blocks, for tests of the viewer in a browser.

A `Report` has the index, the other blocks by name, and one list of flags for each cell. `page` packs it into one file.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

PRESENT, RIGHT, FAILED, OVERFLOW, WORSE, BETTER, LEFT_OUT, SHORTENED, DIFFERS, SURE = (1 << bit for bit in range(10))
LABELS = ("Blocker", "Critical", "Major", "Minor")
_WORDS = (
    "login",
    "page",
    "export",
    "button",
    "timeout",
    "after",
    "upgrade",
    "customer",
    "reports",
    "that",
    "the",
    "server",
    "returns",
    "an",
    "error",
    "when",
    "two",
    "users",
    "open",
    "the",
    "same",
    "issue",
    "and",
    "the",
    "list",
    "of",
    "comments",
    "stays",
    "empty",
    "until",
    "reload",
    "since",
    "last",
    "release",
    "in",
    "the",
    "mobile",
    "client",
    "on",
    "slow",
    "networks",
)


@dataclass
class Report:
    """The blocks of a page; `flags[cell][row]`."""

    index: dict[str, Any]
    blocks: dict[str, Any] = field(default_factory=dict)
    flags: list[list[int]] = field(default_factory=list)

    def place(self, cell: str) -> int:
        """Return the place of a cell by its id."""
        return [each["id"] for each in self.index["cells"]].index(cell)


@dataclass(frozen=True, kw_only=True)
class Shape:
    """What a scenario of a report is like. `perturbations` and `models` multiply the cells."""

    name: str = "triage"
    task: str = "classification"
    strategies: Sequence[str] = ("zero_shot", "few_shot_3", "option_scoring")
    models: Sequence[str] = ("q",)
    perturbations: Sequence[str] = ()
    samples: int = 200
    trials: int = 1
    turns: int = 1
    baseline: bool = True
    texts: bool = True
    words: int = 40


def report(*shapes: Shape, seed: int = 7) -> Report:
    """Return a report with a scenario of each shape."""
    made = Report(
        {
            "format": 1,
            "run": {
                "id": "20261124-124012",
                "started": "2026-11-24T12:40:12Z",
                "number": 42,
                "commit": "3f2c1d9",
                "branch": "main",
                "dirty": False,
                "seconds": 250.0,
            },
            "against": "run 41 (20261123-090000)" if any(shape.baseline for shape in shapes) else None,
            "left_out": None,
            "scenarios": [],
            "cells": [],
        }
    )
    for shape in shapes:
        _Maker(made, shape, random.Random(seed)).make()  # noqa: S311 - invented data
    return made


class _Maker:
    """Makes one scenario of a report."""

    def __init__(self, made: Report, shape: Shape, chance: random.Random) -> None:
        self.made, self.shape, self.chance = made, shape, chance
        self.scenario = len(made.index["scenarios"])
        self.pieces: dict[str, int] = {}
        self.ids = [f"J-{100 + sample}" for sample in range(shape.samples) for _ in range(shape.trials)]
        self.questions = [self._sentence() for _ in range(shape.samples) for _ in range(shape.trials)]
        self.golds = [self._gold(row // shape.trials) for row in range(len(self.ids))]

    def make(self) -> None:
        shape, index = self.shape, self.made.index
        labels = list(LABELS) if shape.task == "classification" else []
        better = {"regression": "low"}.get(shape.task, "high")
        primary = {"classification": "f1_macro", "regression": "mae", "choice": "accuracy"}.get(shape.task, "rouge_l")
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
            {"id": cell, **names, "shown": shown, **self._numbers(value), **self._charts(answers, tops)}
            | {"command": f"pytest benchmarks -k '{cell}'", "change": self._change() if self.shape.baseline else None}
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
        asked = question if perturbation is None else question.replace("error", "eror").replace("page", "pgae")
        piece = self.pieces.setdefault(asked, len(self.pieces))
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
        return texts

    def _numbers(self, value: float) -> dict[str, Any]:
        scenario = self.made.index["scenarios"][self.scenario]
        primary, better = scenario["primary"], scenario["better"]
        samples = len(self.ids)
        measures = [
            _measure(primary, value, samples, better=better),
            _measure("accuracy" if primary != "accuracy" else "brier_score", value + 0.03, samples, better="high"),
            _measure("parse_failure_rate", 0.04, samples, better="low") | {"note": "few answers failed"},
        ]
        passed = value > 0.6
        reason = f"{primary} {value:.3f} [{value - 0.08:.3f}, {value + 0.08:.3f}] n={samples} is under 0.6"
        status = "PASS" if passed else "FAIL"
        verdict = {"gate": f"{primary} >= 0.6", "status": status, "reason": reason, "fails": not passed}
        naive = [{"name": "majority", "measures": [_measure(primary, 0.103, samples, better=better)]}]
        history = [
            {
                "run": f"202611{day:02}-090000",
                "number": day,
                "commit": f"{day * 7919:07x}",
                "date": f"2026-11-{day:02}T09:00:00Z",
                "value": value - 0.1 + 0.005 * day + self.chance.random() * 0.03,
                "low": value - 0.18 + 0.005 * day,
                "high": value - 0.02 + 0.005 * day,
                "note": "engine changed" if day in (9, 17) else "",
            }
            for day in range(1, 25)
        ]
        return {
            "measures": measures,
            "verdicts": [verdict],
            "naive": naive,
            "history": history if self.shape.baseline else [],
            "warnings": [] if passed else ["16 of 200 answers kept from run 20261123; the rest computed without them"],
            "kept": "137 of 200 answers kept from run 41",
            "seconds": 12.5,
            "tokens": 48210,
            "signature": {"engine": {"llama.cpp": "b6930", "threads": 2}, "weights": "9c1f02ab", "seed": 0},
            "changed": ["the prompt template: a12f -> 77b0"] if self.shape.baseline else [],
            "error": None,
        }

    def _charts(self, answers: list[str | None], tops: list[float] | None) -> dict[str, Any]:
        task = self.shape.task
        pairs = Counter(zip(self.golds, answers, strict=True))
        confusion = points = calibration = None
        if task == "classification":
            columns = (*LABELS, None)
            counts = [[pairs[gold, answer] for answer in columns] for gold in LABELS]
            confusion = {"gold": list(LABELS), "answers": [*LABELS, "no answer"], "counts": counts}
        if task == "regression":
            known = [(float(gold), float(answer), n) for (gold, answer), n in pairs.items() if answer is not None]
            points = {name: [row[at] for row in known] for at, name in enumerate(("gold", "answer", "n"))}
        if tops is not None:
            bins = [
                {"low": low / 10, "high": (low + 1) / 10, "n": n, "confidence": low / 10 + 0.05 if n else None}
                | {"accuracy": min(1, max(0, low / 10 - 0.05 + 0.1 * self.chance.random())) if n else None}
                for low, n in ((low, sum(low <= 10 * top < low + 1 for top in tops)) for low in range(10))
            ]
            calibration = {"bins": bins, "ece": 0.08}
        edges = [step / 10 for step in range(11)]
        amounts = [self.chance.randint(0, 40) for _ in range(10)]
        distributions = [{"metric": "rouge_l", "edges": edges, "counts": amounts}] if task == "completion" else []
        failures = {"no label": sum(answer is None for answer in answers)} if None in answers else {}
        gap = {"axis": "names", "old": "female", "new": "male", "change": self._change()}
        return {
            "confusion": confusion,
            "calibration": calibration,
            "points": points,
            "distributions": distributions,
            "failures": failures,
            "shifts": [],
            "gaps": [gap] if task == "classification" else [],
        }

    def _change(self) -> dict[str, Any]:
        value = self.chance.uniform(-0.08, 0.05)
        return {
            "metric": self.made.index["scenarios"][self.scenario]["primary"],
            "old": 0.62,
            "new": 0.62 + value,
            "value": value,
            "low": value - 0.05,
            "high": value + 0.05,
            "n": len(self.ids),
            "worse": 12,
            "better": 4,
            "approximate": False,
            "quotient": False,
        }

    def _link_shifts(self) -> None:
        cells = self.made.index["cells"]
        for place in self.made.index["scenarios"][self.scenario]["cells"]:
            cell = cells[place]
            names = ("scenario", "strategy", "model")
            if cell["perturbation"] is None:
                cell["shifts"] = [
                    {"perturbation": other["perturbation"], "cell": at, "change": self._change()}
                    | {"fixed": 3, "broken": 9, "still_wrong": 2, "p": 0.02, "adjusted": 0.04}
                    for at, other in enumerate(cells)
                    if other["perturbation"] is not None and all(other[name] == cell[name] for name in names)
                ]


def _measure(metric: str, value: float, n: int, *, better: str) -> dict[str, Any]:
    low, high = max(0, value - 0.07), min(1, value + 0.07)
    return {
        "metric": metric,
        "value": value,
        "low": low,
        "high": high,
        "n": n,
        "note": "",
        "better": better,
        "unit": "",
    }


def with_texts(made: Report, change: Callable[[str], str]) -> Report:
    """Return the report with each text changed: names, keys, labels, prompts, replies; not words of the format."""
    fixed = {"task", "better", "format"}

    def changed(value: Any, name: str = "") -> Any:
        if isinstance(value, str):
            return value if name in fixed else change(value)
        if isinstance(value, list):
            return [changed(each, name) for each in value]
        if isinstance(value, dict):
            own = name in {"probabilities", "failures", "scores", "signature", "groups"}
            return {change(key) if own else key: changed(each, key) for key, each in value.items()}
        return value

    blocks = {name: changed(block) for name, block in made.blocks.items()}
    return Report(changed(made.index), blocks, made.flags)
