"""The simulations of power, false alarms and drifts, on a small scale."""

from __future__ import annotations

import sys
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pytest_puma.metrics import ScoredPredictions
from pytest_puma.scenarios import TriageJiraScenario
from tools.statistics import alarms, changes, drift, power

SOME = [changes.Changed(name=f"text {number}", kind="text") for number in range(3)]


def test_power_is_simulated_by_the_arithmetic_of_the_gate() -> None:
    drawn = alarms.POPULATIONS["label probabilities"].draw(np.random.default_rng(4), 120)
    scenario = TriageJiraScenario()
    new, old = drawn.predictions(scenario.valid_labels())
    base, now = (power.Side.of("triage_jira", each) for each in (old, new))
    shares = np.bincount(drawn.gold) / 120
    pair = power.Pair(name="", kind="text", old=base, new=now, prior=1 - float(shares @ shares))
    found = power.evidence(pair, np.ones((1, 120)))
    real = ScoredPredictions(scenario, new, seed=0).beside({each.key: each for each in old}).decline()
    assert real.tests["mcnemar_mid_p"] == pytest.approx(float(found.answers[0]))
    assert real.tests["brier"] == pytest.approx(float(found.brier[0]))
    assert real.p == pytest.approx(float(power.stouffer(found)[0]))
    # With the two answers exchanged in a copy of each row, neither system is better.
    assert pair.swapped().fall == 0


def test_power_has_a_table_and_its_constants(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    labels = TriageJiraScenario().valid_labels()
    runs = {
        changed.name: partial(alarms._scored, apart=apart)(np.random.default_rng(number), 60)
        for number, (changed, apart) in enumerate([(changes.BASE, 0.1), *zip(SOME, (0.2, 0.5, 2.0), strict=True)])
    }
    said = {name: drawn.predictions(labels)[0] for name, drawn in runs.items()}
    monkeypatch.setattr(power, "changes", lambda _: SOME)
    monkeypatch.setattr(power, "ROWS", {"triage_jira": 60})
    monkeypatch.setattr(power, "answers", lambda _, changed, __: said[changed.name])
    monkeypatch.setattr(sys, "argv", ["power", "--draws", "20", "--cache", str(tmp_path)])
    power.main()
    text = capsys.readouterr().out
    assert "no_regression (Stouffer)" in text
    assert "correlation of the two normal scores" in text


@pytest.mark.parametrize("population", ["right in .80", "both orders of a pair", "label probabilities", "story points"])
def test_false_alarms_of_equal_systems_are_few(
    population: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["alarms", "--draws", "20", "--tests", "100", "--size", "60", "--population", population]
    monkeypatch.setattr(sys, "argv", words)
    alarms.main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [gate.strip("`") for _, gate, _ in rows] == list(alarms.POPULATIONS[population].gates)
    assert all(float(share) <= 0.2 for *_, share in rows)


def test_series_are_simulated(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(drift, "SIZES", (100,))
    monkeypatch.setattr(sys, "argv", ["drift", "--series", "200"])
    drift.main()
    rows = [line.strip("| ").split("|") for line in capsys.readouterr().out.splitlines()[2:]]
    found = {name.strip(): float(share) for name, share, *_ in rows}
    assert all(share <= 0.1 for name, share in found.items() if name.startswith("no loss"))
    assert found["1 point a step, 3 % change"] > 0.4


def test_a_changed_run_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changes, "ROWS", {"triage_jira": 3})
    (flat,) = (each for each in changes.changes("triage_jira") if each.name == "logits times 0.5")
    base, found = (changes.answers("triage_jira", each, tmp_path) for each in (changes.BASE, flat))
    assert [each.answer for each in found] == [each.answer for each in base]
    assert found[0].probabilities is not None
    assert base[0].probabilities is not None
    assert max(found[0].probabilities.values()) < max(base[0].probabilities.values())
    monkeypatch.setattr(changes, "_computed", None)
    assert changes.answers("triage_jira", flat, tmp_path) == found


def test_every_change_has_another_name_and_another_text() -> None:
    for scenario in changes.ROWS:
        every = changes.changes(scenario)
        assert len({(each.kind, each.name) for each in every}) == len(every)
    texts = [each.prompts for each in changes.changes("triage_jira") if each.prompts]
    assert all(each != other for each, other in combinations(texts, 2))
