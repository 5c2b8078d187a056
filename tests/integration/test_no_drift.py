"""`no_drift` as a team uses it: baselines that are renewed at each small loss, until the series fails."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import INI, Project

#: Of 120 tickets the model gets the first ones wrong, as many as the file says; and another two at each run, as noise.
CONFTEST = """
from pathlib import Path
from pytest_puma.testing import ScriptedBackend

def answer(prompt):
    number = int(prompt.split("ticket ")[1].split(":")[0])
    gold = ("billing", "access")[number % 2]
    wrong = number < int(Path("wrong.txt").read_text())
    return {"billing": "access", "access": "billing"}[gold] if wrong else gold

def pytest_puma_backend(model):
    return ScriptedBackend(answer)
"""
TESTS = """
import pandas as pd
import pytest
from pytest_puma import Scenario

class Tickets(Scenario):
    name = "tickets"
    task_type = "classification"
    key = "id"
    text_fields = ("text",)

    def sample(self, n, seed=42):
        rows = [{"id": f"T{i}", "text": f"ticket {i}: help", "team": ("billing", "access")[i % 2]} for i in range(n)]
        return pd.DataFrame(rows)

    def gold_label(self, instance):
        return instance["team"]

    def hidden_fields(self):
        return ("team",)

    def valid_labels(self):
        return ["billing", "access"]

    def parse_response(self, response):
        return response if response in self.valid_labels() else None

@pytest.mark.puma(Tickets, strategies=["zero_shot"], samples=120, gates=["no_regression", "no_drift"])
def test_tickets(puma):
    pass
"""
GATES = ("no_regression", "no_drift")


@pytest.fixture
def team(pytester: pytest.Pytester, gguf: Path) -> Project:
    """A baseline with three wrong answers."""
    pytester.makeini(INI)
    pytester.makepyfile(conftest=CONFTEST)
    prompts = pytester.mkdir("prompts") / "tickets"
    prompts.mkdir()
    (prompts / "zero_shot.jinja").write_text("{{ text }}", encoding="utf-8")
    project = Project(pytester, gguf, 0)
    project.write(test_tickets=TESTS)
    renew(project, wrong=3)
    return project


def renew(project: Project, *, wrong: int) -> None:
    ask(project, "--puma-update-baseline", wrong=wrong)


def ask(project: Project, *arguments: str, wrong: int) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit status, and the verdicts by gate."""
    (project.pytester.path / "wrong.txt").write_text(str(wrong), encoding="utf-8")
    result = project.run(*arguments)
    newest = max((project.pytester.path / ".puma" / "runs").iterdir(), key=lambda folder: folder.stat().st_mtime_ns)
    record = json.loads((newest / "run.json").read_text(encoding="utf-8"))
    (outcome,) = record["outcomes"]
    return int(result.ret), {each["gate"]["metric"]: each for each in outcome["verdicts"]}


def head(project: Project) -> dict[str, Any]:
    """Entry of the one cell in the reviewable file."""
    path = project.pytester.path / "benchmarks" / "baselines" / "tickets.json"
    (result,) = json.loads(path.read_text(encoding="utf-8"))["cells"].values()
    return dict(result)


def test_small_losses_that_are_accepted_each_time_add_up(team: Project) -> None:
    steps: list[tuple[str, str]] = []
    for wrong in (5, 7, 9, 11):
        _, verdicts = ask(team, wrong=wrong)
        steps.append((verdicts["no_regression"]["status"], verdicts["no_drift"]["status"]))
        renew(team, wrong=wrong)
    assert [regression for regression, _ in steps] == ["PASS"] * 4
    assert [drift for _, drift in steps] == ["PASS", "PASS", "PASS", "FAIL"]
    assert (head(team)["anchor"]["renewals"], head(team)["anchor"]["cusum"] > 1.4) == (4, True)

    # The renewal does not silence it, nor does a run that is no worse than the last one.
    status, verdicts = ask(team, wrong=11)
    assert (status, verdicts["no_regression"]["status"], verdicts["no_drift"]["status"]) == (1, "PASS", "FAIL")
    reason = verdicts["no_drift"]["reason"]
    assert reason.startswith("a drift (sum ")
    assert ", limit 1.4) since the anchor, 4 renewals later: accuracy 0.975 -> 0.908, " in reason
    assert reason.endswith(
        "8 of 120 answers went from right to wrong, 0 the other way; right and wrong alone count, because this "
        "run did not score the labels"
    )
    power = verdicts["no_drift"]["power"]
    assert (power["renewals"], power["loss"], power["n"]) == (12, 0.12, 120)


def test_noise_that_comes_and_goes_does_not(team: Project) -> None:
    for wrong in (5, 2, 4, 3, 5, 2, 4, 3):
        status, verdicts = ask(team, wrong=wrong)
        assert (status, verdicts["no_drift"]["status"]) == (0, "PASS")
        renew(team, wrong=wrong)
    assert head(team)["anchor"]["renewals"] == 8
    assert head(team)["anchor"]["cusum"] == 0


def test_without_its_anchor_a_series_starts_anew(team: Project) -> None:
    for wrong in (7, 11, 15):
        renew(team, wrong=wrong)
    assert ask(team, wrong=15)[1]["no_drift"]["status"] == "FAIL"

    path = team.pytester.path / "benchmarks" / "baselines" / "tickets.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    (cell,) = data["cells"].values()
    del cell["anchor"]
    path.write_text(json.dumps(data), encoding="utf-8")
    assert ask(team, wrong=15)[1]["no_drift"]["status"] == "PASS"
    # Answers that are as before renew nothing; others are the first renewal of the new series.
    renew(team, wrong=15)
    assert "anchor" not in head(team)
    renew(team, wrong=16)
    assert head(team)["anchor"]["renewals"] == 1


def test_other_samples_are_another_series(team: Project) -> None:
    renew(team, wrong=5)
    status, verdicts = ask(team, "--puma-samples=60", wrong=5)
    assert (status, verdicts["no_drift"]["status"]) == (0, "NO BASELINE")
    assert verdicts["no_drift"]["reason"] == (
        "60 of the 120 samples of the anchor were asked here; --puma-update-baseline starts a new series"
    )
    ask(team, "--puma-samples=60", "--puma-update-baseline", wrong=5)
    assert "anchor" not in head(team)


def test_damaged_answers_of_an_anchor_are_refused(team: Project) -> None:
    renew(team, wrong=5)
    path = team.pytester.path / "benchmarks" / "baselines" / "tickets.answers.jsonl"
    text = path.read_text(encoding="utf-8")
    lines = [line.replace('"access"', '"billing"', 1) if '"anchor"' in line else line for line in text.split("\n")]
    path.write_text("\n".join(lines), encoding="utf-8")
    result = team.run()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["*the anchor's answers of tickets-zero_shot@* are not those that were written*"])


def test_both_words_stand_in_one_run(team: Project) -> None:
    _, verdicts = ask(team, wrong=3)
    assert tuple(verdicts) == GATES
    assert verdicts["no_drift"]["reason"].startswith(
        "no drift found (sum 0, limit 1.4) since the anchor, 0 renewals later"
    )
