"""Invented reports in the format of the page's blocks, for tests of the viewer in a browser.

A `Report` has the index, the other blocks by name, and one list of flags for each cell. `page` packs it into one file.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.browser.scenario_maker import ScenarioMaker
from tests.browser.shapes import Report, Shape


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
        ScenarioMaker(made, shape, random.Random(seed)).make()  # noqa: S311 - invented data
    return made


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
