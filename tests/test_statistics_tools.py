"""The tools that try the statistics, on a small scale."""

from __future__ import annotations

import sys

import pytest

from tools.statistics import clusters, coverage, judging, selection, stopping


def test_the_simulation_tells_a_share_for_each_interval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage, "_ALL", 100_000)
    monkeypatch.setattr(sys, "argv", ["coverage", "--draws", "10", "--size", "200", "--population", "good"])
    coverage.main()
    words = [line.split() for line in capsys.readouterr().out.splitlines()[2:]]
    rows = {" ".join(name): float(share) for _, *name, share in words}
    assert set(rows) == {
        "accuracy",
        "f1_macro",
        "kappa_quadratic",
        "change of accuracy",
        "change of f1_macro",
        "change of kappa_quadratic",
        "false alarms of f1_macro",
        "power of f1_macro, 0.15 worse",
    }
    assert 0.5 < rows["accuracy"] <= 1
    assert 0.5 < rows["change of f1_macro"] <= 1
    assert rows["false alarms of f1_macro"] < 0.5 < rows["power of f1_macro, 0.15 worse"]


def test_every_population_has_a_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(coverage, "_ALL", 2000)
    accuracies = {each.name: coverage._truths(each).get(("accuracy", 0)) for each in coverage.POPULATIONS}
    assert accuracies == {
        "good": pytest.approx(0.8, abs=0.04),
        "weak": pytest.approx(0.4, abs=0.04),
        "imbalanced": pytest.approx(0.7, abs=0.04),
        "near-perfect": pytest.approx(0.98, abs=0.02),
        "points": None,
        "points, long tail": None,
    }


def test_judging_is_timed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, number in {"CELLS": 2, "SAMPLES": 20, "MANY": 30}.items():
        monkeypatch.setattr(judging, name, number)
    judging.main()
    first, *others = capsys.readouterr().out.splitlines()
    assert first.startswith("2 cells of 20 samples: ")
    assert [line.partition(",")[0] for line in others] == ["triage_jira", "estimation_tawos"]


def test_shared_units_are_simulated_beside_independent_rows(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["clusters", "--draws", "4", "--size", "20", "--population", "both orders"])
    clusters.main()
    *_, row = capsys.readouterr().out.splitlines()
    name, size, *shares = row.strip("| ").split(" | ")
    assert (name, size, len(shares)) == ("both orders", "20", 6)
    assert all(0 <= float(number.strip("()")) <= 1 for share in shares for number in share.split())


def test_the_choice_of_the_best_strategy_is_simulated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["selection", "--draws", "3", "--size", "50"])
    selection.main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    assert [row[0] for row in rows] == [each.name for each in selection.POPULATIONS]
    assert all(float(row[4]) <= float(row[3]) for row in rows), "corrected downwards"


def test_stopping_is_simulated_beside_the_whole_sample(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["stopping", "--repetitions", "8", "--size", "50", "--distance", "0.3", "--trial"]
    for trial in ("accuracy", "mae", "95 % exact", "ten classes", "baseline"):
        monkeypatch.setattr(sys, "argv", [*words, trial])
        stopping.main()
        *_, row = capsys.readouterr().out.splitlines()
        name, size, distance, failed, _, changed, asked = row.strip("| ").split(" | ")
        assert (name, size, distance) == (trial, "50", "+0.30")
        assert float(failed) <= 0.5
        assert float(changed) <= 0.5
        assert 0.4 <= float(asked) <= 1
