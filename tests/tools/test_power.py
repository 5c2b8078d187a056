"""The simulations of power, false alarms and drifts, on a small scale."""

from __future__ import annotations

import sys
from functools import partial
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from pytest_puma.core import Policy
from pytest_puma.gates.grammar import parse_gate
from pytest_puma.gates.judge import judge_change, judge_decline
from pytest_puma.metrics import ScoredPredictions, pair
from pytest_puma.scenarios import TriageJiraScenario
from tests.metrics.texts import paired_texts, texts
from tools.statistics import alarms, changed_run, changes, drift, equal_systems, evidence, power, stated
from tools.statistics.changed_run import BASE, ROWS, ChangedRun, answers

SOME = [ChangedRun(name=f"text {number}", kind="text") for number in range(3)]


def test_power_is_simulated_by_the_arithmetic_of_the_gate() -> None:
    runs = equal_systems.POPULATIONS["label probabilities"].draw(np.random.default_rng(4), 120)
    scenario = TriageJiraScenario()
    new, old = runs.predictions(scenario.valid_labels())
    base, now = (evidence.Side.of("triage_jira", each) for each in (old, new))
    shares = np.bincount(runs.gold) / 120
    both = evidence.Pair(name="", kind="text", old=base, new=now, prior=1 - float(shares @ shares))
    tests = evidence.evidence(both, np.ones((1, 120)))
    real = pair(ScoredPredictions(scenario, new, seed=0), {each.key: each for each in old}).decline()
    assert real.tests["mcnemar_mid_p"] == pytest.approx(float(tests.answers[0]))
    assert real.tests["brier"] == pytest.approx(float(tests.brier[0]))
    assert real.p == pytest.approx(float(evidence.stouffer(tests)[0]))
    # With the two answers exchanged in a copy of each row, neither system is better.
    assert both.swapped().fall == 0


def test_power_has_a_table_and_its_constants(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    labels = TriageJiraScenario().valid_labels()
    runs = {
        changed.name: partial(equal_systems.scored, apart=apart)(np.random.default_rng(number), 60)
        for number, (changed, apart) in enumerate([(BASE, 0.1), *zip(SOME, (0.2, 0.5, 2.0), strict=True)])
    }
    predictions = {name: run.predictions(labels)[0] for name, run in runs.items()}
    monkeypatch.setattr(power, "changes", lambda _: SOME)
    monkeypatch.setattr(power, "ROWS", {"triage_jira": 60})
    monkeypatch.setattr(power, "answers", lambda _, changed, __: predictions[changed.name])
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
    assert [gate.strip("`") for _, gate, _ in rows] == list(equal_systems.POPULATIONS[population].gates)
    assert all(float(share) <= 0.2 for *_, share in rows)


@pytest.mark.parametrize(
    "population", ["both orders of a pair", "story points", "10 % of points not parsed in each run"]
)
def test_false_alarms_are_counted_by_the_arithmetic_of_the_gate(population: str) -> None:
    of_equals = equal_systems.POPULATIONS[population]
    gate = parse_gate("no_regression")
    judge = alarms.judge_of(of_equals, gate)
    assert judge is not None
    assert judge is not alarms.fails
    draws = [of_equals.draw(np.random.default_rng([number, 90]), 90) for number in range(60)]
    verdicts = [judge(of_equals, gate, each) for each in draws]
    assert verdicts == [alarms.fails(of_equals, gate, each) for each in draws]
    assert any(verdicts)


def test_series_are_simulated(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(drift, "SIZES", (100,))
    monkeypatch.setattr(sys, "argv", ["drift", "--series", "200"])
    drift.main()
    rows = [line.strip("| ").split("|") for line in capsys.readouterr().out.splitlines()[2:]]
    shares = {name.strip(): float(share) for name, share, *_ in rows}
    assert all(share <= 0.1 for name, share in shares.items() if name.startswith("no loss"))
    assert shares["1 point a step, 3 % change"] > 0.4


def test_a_changed_run_is_computed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(changed_run, "ROWS", {"triage_jira": 3})
    (flat,) = (each for each in changes.changes("triage_jira") if each.name == "logits times 0.5")
    base, changed = (answers("triage_jira", each, tmp_path) for each in (BASE, flat))
    assert [each.answer for each in changed] == [each.answer for each in base]
    assert changed[0].probabilities is not None
    assert base[0].probabilities is not None
    assert max(changed[0].probabilities.values()) < max(base[0].probabilities.values())
    monkeypatch.setattr(changed_run, "MODEL", tmp_path / "none.gguf")
    assert answers("triage_jira", flat, tmp_path) == changed


def test_every_change_has_another_name_and_another_text() -> None:
    for scenario in ROWS:
        every = changes.changes(scenario)
        assert len({(each.kind, each.name) for each in every}) == len(every)
    texts = [each.prompts for each in changes.changes("triage_jira") if each.prompts]
    assert all(each != other for each, other in combinations(texts, 2))


@pytest.mark.parametrize("name", ["right or wrong", "scores, few change", "errors without bounds", "five trials"])
def test_stated_powers_are_simulated(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["stated", "--draws", "20", "--size", "60", "--population", name])
    stated.main()
    rows = [line.strip("| ").split("|") for line in capsys.readouterr().out.splitlines()[2:]]
    assert len(rows) == len(stated.GATES)
    for _, _, _, *numbers in rows:
        said, true, _, smallest, reached = map(float, numbers)
        assert said == pytest.approx(true, abs=0.4)
        assert smallest > stated.POPULATIONS[name].matters / 2
        assert reached > 0.5


@pytest.mark.parametrize("name", ["right or wrong", "scores", "five trials"])
def test_stated_powers_are_those_of_the_gates(name: str) -> None:
    population, verdicts = stated.POPULATIONS[name], []
    for number in range(6):
        new, old = population.runs(np.random.default_rng(number), 40, 0.2)
        trials = population.trials
        pairs = paired_texts(*(texts((1 - each).tolist(), size=trials, trials=trials) for each in (new, old)))
        change = pairs.change("closeness")
        assert change is not None
        real = [judge_decline(stated.GATES[0], pairs.decline(), change, "", Policy())]
        real.append(judge_change(parse_gate("closeness >= baseline"), change, "", Policy()))
        tests = [stated.tested(population, gate, new, old) for gate in stated.GATES]
        verdicts += [each.status == "FAIL" for each in real]
        assert [failed for failed, _ in tests] == verdicts[-2:]
        powers = [None if each.power is None else each.power.caught for each in real]
        assert powers == pytest.approx([each.caught(0.05) for _, each in tests])
    assert any(verdicts)
