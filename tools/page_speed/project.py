"""A project with a large run: invented issues, scripted models, and the cells of a real session."""

from __future__ import annotations

import csv
import random
import re
import subprocess
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

from pytest_puma.platform.bundled import bundled_folder

DATA = Path(__file__).parents[2] / "data"
STRATEGIES = ("zero_shot", "few_shot_3", "zero_shot_cot", "cot_few_shot_3", "option_scoring")
MODELS = ("alder", "birch", "cedar", "dogwood")
PERTURBATIONS = ("typos_5pct", "case_upper", "case_lower", "tech_noise")
CELLS = len(STRATEGIES) * len(MODELS) * (1 + len(PERTURBATIONS))
#: Share of samples of which a scripted model returns the gold label.
SKILL = 0.5
#: Characters of an issue and of a chain of thought.
ISSUE, THOUGHT = 600, 770
#: Issues that are no samples, for the few-shot examples.
EXAMPLES = 20
_LABELS = ("Critical", "Major", "Minor", "Trivial")

_BENCHMARK = f"""
import pytest

@pytest.mark.puma("triage_jira", strategies={[*STRATEGIES]}, samples=...)
def test_triage(puma):
    pass
"""
_CONFTEST = """
from pytest_puma.testing import ScriptedBackend
from tools.page_speed.project import Words, reply

def pytest_puma_backend(model):
    words = Words()
    return ScriptedBackend(lambda prompt: reply(words, model.name, prompt), confidence=6)
"""


class Words:
    """Texts in which each word follows the one before as in the project's data, so that they deflate as texts do."""

    def __init__(self) -> None:
        words = []
        for path in sorted(DATA.glob("*.csv")):
            words += re.findall(r"[A-Za-z]+", path.read_text(encoding="utf-8"))
        self._words = words
        self._after: dict[str, list[str]] = defaultdict(list)
        for word, after in pairwise(words):
            self._after[word].append(after)

    def text(self, seed: str, length: int) -> str:
        """Return at least `length` characters; the same for the same seed."""
        draw = random.Random(seed)  # noqa: S311 - no secret
        chosen = [draw.choice(self._words)]
        size = 0
        while size < length:
            chosen.append(draw.choice(self._after[chosen[-1]] or self._words))
            size += len(chosen[-1]) + 1
        return f"{' '.join(chosen)}."


def reply(words: Words, model: str, prompt: str) -> str:
    """Return the reply of a scripted model: often the gold, with a chain of thought where the prompt asks for one."""
    issue = prompt.rpartition("Description:")[2]
    draw = random.Random(f"{model}{prompt}")  # noqa: S311 - no secret
    label = _gold(issue) if draw.random() < SKILL else draw.choice(_LABELS)
    return f"{words.text(prompt, THOUGHT)}\nAnswer: {label}" if "Answer:" in prompt else label


def large_run(home: Path, samples: int) -> Path:
    """Run the project in a folder, and return the folder of its run."""
    words = Words()
    with (home / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["issue_key", "title", "description", "priority"])
        for number in range(samples + EXAMPLES):
            text = words.text(f"issue {number}", ISSUE)
            rows.writerow([f"J-{number}", text[:60], text, _gold(text)])
    (home / "pytest.ini").write_text("[pytest]\npuma_naive_baselines = false\n", encoding="utf-8")
    (home / "conftest.py").write_text(_CONFTEST, encoding="utf-8")
    (home / "test_triage.py").write_text(_BENCHMARK.replace("...", str(samples)), encoding="utf-8")
    (weights,) = bundled_folder("models").glob("*.gguf")
    for model in MODELS:
        (home / f"{model}.gguf").symlink_to(weights)
    options = [f"--puma-model={model}.gguf" for model in MODELS]
    options += ["--puma-data=triage_jira=rows.csv", f"--puma-perturb={','.join(PERTURBATIONS)}"]
    options += [f"--puma-max-tokens={2 * THOUGHT}"]  # a token is a byte
    subprocess.run([sys.executable, "-m", "pytest", "-q", *options], cwd=home, check=True)  # noqa: S603 - our own
    (run,) = (home / ".puma" / "runs").iterdir()
    return run


def _gold(issue: str) -> str:
    """Return the label of an issue, which most perturbations keep."""
    return _LABELS[len(re.findall("the ", issue.lower())) % len(_LABELS)]
