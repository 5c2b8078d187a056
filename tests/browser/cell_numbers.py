"""Invented numbers of a cell: measures, verdicts, history, charts and changes."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tests.browser.shapes import (
    LABELS,
    Shape,
)


@dataclass(frozen=True, kw_only=True)
class CellNumbers:
    """Numbers and charts of the cells of one scenario."""

    shape: Shape
    primary: str
    better: str
    golds: Sequence[str]
    chance: random.Random

    def of_cell(self, value: float) -> dict[str, Any]:
        """Return measures, verdicts and history of a cell whose primary metric has this value."""
        primary, better, samples = self.primary, self.better, len(self.golds)
        measures = [
            _measure(primary, value, samples, better=better),
            _measure("accuracy" if primary != "accuracy" else "brier_score", value + 0.03, samples, better="high"),
            _measure("parse_failure_rate", 0.04, samples, better="low") | {"note": "few answers failed"},
        ]
        passed = value > 0.6
        reason = f"{primary} {value:.3f} [{value - 0.08:.3f}, {value + 0.08:.3f}] n={samples} is under 0.6"
        status = "PASS" if passed else "FAIL"
        verdict = {"gate": f"{primary} >= 0.6", "limit": None, "status": status, "reason": reason, "fails": not passed}
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
            "limits": [{"gate": ">= 0.45", "value": 0.45}] if self.shape.baseline else [],
            "warnings": [] if passed else ["16 of 200 answers kept from run 20261123; the rest computed without them"],
            "kept": "137 of 200 answers kept from run 41",
            "seconds": 12.5,
            "time": "12.5",
            "throughput": "16 answers and 800 tokens a second",
            "tokens": 48210,
            "signature": {"engine": {"llama.cpp": "b6930", "threads": 2}, "weights": "9c1f02ab", "seed": 0},
            "changed": ["the prompt template: a12f -> 77b0"] if self.shape.baseline else [],
            "error": None,
        }

    def charts(self, answers: list[str | None], tops: list[float] | None) -> dict[str, Any]:
        """Return the charts of a cell with these answers; `tops`: the probability of each."""
        task = self.shape.task
        pairs = Counter(zip(self.golds, answers, strict=True))
        confusion = points = calibration = None
        if task == "classification":
            columns = (*LABELS, None)
            counts = [[pairs[gold, answer] for answer in columns] for gold in LABELS]
            confusion = {"gold": list(LABELS), "answers": [*LABELS, "no answer"], "counts": counts}
        if task == "regression":
            numeric = [(float(gold), float(answer), n) for (gold, answer), n in pairs.items() if answer is not None]
            points = {name: [row[at] for row in numeric] for at, name in enumerate(("gold", "answer", "n"))}
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
        gap = {"axis": "names", "old": "female", "new": "male", "change": self.change()}
        return {
            "confusion": confusion,
            "calibration": calibration,
            "points": points,
            "distributions": distributions,
            "failures": failures,
            "shifts": [],
            "gaps": [gap] if task == "classification" else [],
        }

    def change(self) -> dict[str, Any]:
        """Return a change of the primary metric since another run."""
        value = self.chance.uniform(-0.08, 0.05)
        return {
            "metric": self.primary,
            "old": 0.62,
            "new": 0.62 + value,
            "value": value,
            "low": value - 0.05,
            "high": value + 0.05,
            "n": len(self.golds),
            "worse": 12,
            "better": 4,
            "approximate": False,
            "quotient": False,
        }


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
