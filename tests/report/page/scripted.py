"""A real run on scripted models, with a cell of each kind of task, and the page of a run as data.

folder = scripted_run(tmp_path)
page = Page(as_page(folder.run, folder.path))
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from pytest_puma.analysis.contrasts import contrasts_of
from pytest_puma.analysis.naive_baselines import NaiveBaselines
from pytest_puma.analysis.robustness import robustness
from pytest_puma.core import Generation, Outcome, Run
from pytest_puma.planning.scores import own_scores
from pytest_puma.planning.settings import Registry
from pytest_puma.report.page.flags import PRESENT
from pytest_puma.scenarios import EstimationTawosScenario
from pytest_puma.store.run_folder import RunFolder
from pytest_puma.testing import ScriptedBackend
from tests.composed import CAPITALS, Capitals, Quiz, written
from tests.factories import cell, entry, evaluated

Script = Callable[[str], str]


@dataclass(frozen=True)
class Recorded:
    """A run and its folder."""

    run: Run
    path: Path

    @property
    def record(self) -> dict[str, Any]:
        """`run.json`."""
        data: dict[str, Any] = json.loads((self.path / "run.json").read_text(encoding="utf-8"))
        return data

    def predictions(self, cell_id: str) -> list[dict[str, Any]]:
        """The lines of a cell in `predictions.jsonl`."""
        lines = (self.path / "predictions.jsonl").read_text(encoding="utf-8").splitlines()
        parsed = map(json.loads, lines)
        return [each for each in parsed if each["kind"] == "prediction" and each["cell"] == cell_id]


def recorded(root: Path, outcomes: Sequence[Outcome], *, keep_prompts: bool = True, **fields: Any) -> Recorded:
    """Write the run of these outcomes, as a session does."""
    folder = RunFolder(root, "20260102T030405-6", keep_prompts=keep_prompts)
    named = [replace(each, node_id=f"test_t.py::test_t[{each.cell}]") for each in outcomes]
    for each in named:
        folder.add(each)
    run = Run(
        id=folder.path.name,
        started="2026-01-02T03:04:05+00:00",
        environment={"pytest-puma": "0.1.0"},
        outcomes=tuple(replace(each, predictions=(), shared_prompts=()) for each in named),
        robustness=robustness(named),
        contrasts=contrasts_of(named, ("strategy", "baseline")),
    )
    run = replace(run, **fields)
    folder.finish(run)
    folder.close()
    return Recorded(run, folder.path)


def moody(prompt: str) -> str:
    """An answer that depends on the issue: often right, sometimes none."""
    issue = prompt.rpartition("<issue>")[2]
    words = len(issue.split())
    if words % 7 == 0:
        return "I cannot say."
    return ("Critical", "Major", "Minor", "Trivial")[words % 4]


def classification(*, samples: int = 40) -> list[Outcome]:
    """Two strategies with a baseline, gates on it and flips, and perturbed twins."""
    fields: dict[str, Any] = {"samples": samples, "compared_metrics": ("f1_macro", "accuracy")}
    gated: dict[str, Any] = {"gates": ("f1_macro >= 0.9", "accuracy >= baseline - 0.02", "parse_failure_rate <= 0.5")}
    outcomes = []
    for strategy in ("zero_shot", "few_shot_3"):
        before = evaluated(cell(strategy=strategy, **fields), "Major")
        options = {"baseline": entry(before), "naive_baselines": NaiveBaselines()}
        outcomes.append(evaluated(cell(strategy=strategy, **fields, **gated), moody, **options))
    outcomes += [evaluated(cell(perturbation=name, **fields), moody) for name in ("case_upper", "typos_20pct")]
    return outcomes


def scoring(*, samples: int = 40) -> Outcome:
    """A cell with probabilities."""
    return evaluated(cell(strategy="option_scoring", samples=samples), ScriptedBackend(moody, confidence=7.0))


def regression(*, samples: int = 30) -> Outcome:
    """A cell whose answers are numbers, or none."""

    def script(prompt: str) -> str:
        words = len(prompt.rpartition("<issue>")[2].split())
        return "no idea" if words % 9 == 0 else str((1, 2, 3, 5, 8, 3.0)[words % 6])

    return evaluated(cell(EstimationTawosScenario(), samples=samples), script)


def choice(folder: Path) -> Outcome:
    """A cell whose answers are choices."""
    rows = [
        {"question": f"Which is {word}?", "choices": [word, "sea", "sky"], "answer": 0}
        for word in ("desk", "oak", "tin")
    ]
    scenario = Quiz(written(folder / "quiz.jsonl", rows))
    return evaluated(cell(scenario, "option_scoring", samples=3), ScriptedBackend({}, default="A", confidence=3.0))


def completion(folder: Path, script: Script = lambda prompt: "A: Rome" if "Italy" in prompt else "A: Oslo") -> Outcome:
    """A cell whose answers are texts."""
    scenario = Capitals(written(folder / "capitals.jsonl", CAPITALS))
    return evaluated(cell(scenario, samples=4, scores=own_scores(scenario, Registry())), script)


def every_kind(folder: Path) -> list[Outcome]:
    """Cells of all kinds of tasks."""
    return [*classification(), scoring(), regression(), choice(folder), completion(folder)]


def repeats(*, samples: int = 6) -> Outcome:
    """A cell that asks each sample three times."""
    backend = ScriptedBackend({}, default="Major", confidence=7.0)
    return evaluated(cell(samples=samples, repeats=3, generation=Generation(temperature=1.0)), backend)


class Page:
    """The page of a run, read as a browser would."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.packed = dict(re.findall(r'<script type="text/plain" id="(\w+)">([\w+/=]*)</script>', text))
        self.summary = re.sub(r"<script.*?</script>|<style>.*?</style>", "", text, flags=re.DOTALL)

    def inflated(self, name: str) -> bytes:
        """The bytes of a block."""
        return zlib.decompress(base64.b64decode(self.packed[name]), wbits=-15)

    def block(self, name: str) -> Any:
        """The content of a block of JSON."""
        return json.loads(self.inflated(name))

    @cached_property
    def index(self) -> dict[str, Any]:
        """The block `ix`."""
        index: dict[str, Any] = self.block("ix")
        return index

    def flags(self, cell_id: str) -> list[int]:
        """The flags of each row of a cell."""
        sizes = [self.index["scenarios"][each["scenario"]]["rows"] for each in self.index["cells"]]
        place = self.place(cell_id)
        start, size = sum(sizes[:place]), sizes[place]
        data = self.inflated("fl")
        assert len(data) == 2 * sum(sizes)
        return [int.from_bytes(data[2 * row : 2 * row + 2], "little") for row in range(start, start + size)]

    def place(self, cell_id: str) -> int:
        """The place of a cell in the index."""
        return [each["id"] for each in self.index["cells"]].index(cell_id)

    def cell(self, cell_id: str) -> dict[str, Any]:
        """A cell in the index."""
        found: dict[str, Any] = self.index["cells"][self.place(cell_id)]
        return found

    def keys(self, cell_id: str) -> list[tuple[str, int] | None]:
        """The sample and trial of each row of a cell; None where it has none."""
        rows = self.block(f"r{self.cell(cell_id)['scenario']}")
        trials = rows["trials"] or [0] * len(rows["ids"])
        keys = list(zip(rows["ids"], trials, strict=True))
        return [key if flag & PRESENT else None for key, flag in zip(keys, self.flags(cell_id), strict=True)]

    def answers(self, cell_id: str) -> list[str | None]:
        """The answer in each row."""
        block = self.block(f"a{self.place(cell_id)}")
        return [None if number is None else block["table"][number] for number in block["answers"]]

    def entries(self, cell_id: str) -> list[dict[str, Any] | None]:
        """The texts of each row."""
        rows: list[dict[str, Any] | None] = self.block(f"t{self.place(cell_id)}")["rows"]
        return rows

    def prompts(self, cell_id: str, row: int) -> list[list[dict[str, str]]]:
        """The prompts of a row as messages, put together by the rules of the format."""
        head, entry = self.block(f"h{self.place(cell_id)}"), self.entries(cell_id)[row]
        pieces = self.block(f"s{self.cell(cell_id)['scenario']}")["pieces"]
        assert entry is not None
        prompts: list[list[dict[str, str]]] = []
        turn = 0
        for prompt in entry["prompts"]:
            if prompt is None:
                prompts.append(prompts[-1])
                continue
            messages = [{"role": role, "content": text} for role, text in head["start"][turn]]
            for role, number in prompt:
                if role is None:
                    messages[-1]["content"] += pieces[number]
                else:
                    messages.append({"role": role, "content": pieces[number]})
            messages[-1]["content"] += head["end"][turn]
            prompts.append(messages)
            turn += 1
        return prompts

    @cached_property
    def tables(self) -> list[list[list[str]]]:
        """The texts in the cells of each table of the summary."""
        reader = _Tables()
        reader.feed(self.summary)
        return reader.tables

    @cached_property
    def shown(self) -> str:
        """All text of the summary."""
        reader = _Tables()
        reader.feed(self.summary)
        return " ".join(reader.texts)


class _Tables(HTMLParser):
    """The texts of a document, and those in the cells of its tables."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in {"th", "td"}:
            self.tables[-1][-1].append("")
            self._inside = True
        labels = dict(attrs)
        if label := labels.get("aria-label"):
            self.texts.append(label)

    def handle_endtag(self, tag: str) -> None:
        self._inside = self._inside and tag not in {"th", "td"}

    def handle_data(self, data: str) -> None:
        if data.strip():
            self.texts.append(" ".join(data.split()))
        if self._inside:
            self.tables[-1][-1][-1] += data
