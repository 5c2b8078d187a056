"""The tools that try the statistics, on a small scale."""

from __future__ import annotations

import math
import re
import sys

import pytest

from pytest_puma.metrics import metric_names
from tools.statistics import clusters, coverage, front, judging, selection, stopping
from tools.statistics.populations import POPULATIONS, RANKING, Labels, Numbers, Population


def test_the_simulation_tells_a_share_for_each_interval(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(coverage, "ALL", 20_000)
    monkeypatch.setattr(sys, "argv", ["coverage", "--draws", "10", "--size", "100", "--population", "calibrated"])
    coverage.main()
    lines = capsys.readouterr().out.splitlines()[2:]
    rows = {name: shares for _, name, *shares in ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)}

    assert set(rows) == {"accuracy", "brier", "ece", *RANKING}
    assert float(rows["accuracy"][0]) == pytest.approx(0.95, abs=0.02), "exact"
    assert rows["ece"][0] == "-", "it has no interval, and its change has one"
    assert all(0.5 < float(share.split()[0]) <= 1 for shares in rows.values() for share in shares if share != "-")


@pytest.mark.parametrize("population", POPULATIONS, ids=lambda each: each.name)
def test_every_population_has_a_truth_of_every_metric(monkeypatch: pytest.MonkeyPatch, population: Population) -> None:
    monkeypatch.setattr(coverage, "ALL", 2000)
    truths = coverage.truths_of(population)

    assert set(truths) == {name for metric in population.metrics for name in (metric, f"change of {metric}")}
    assert all(math.isfinite(value) for value in truths.values())
    assert any(truths[name] for name in truths if name.startswith("change"))


def test_every_metric_with_an_interval_is_simulated() -> None:
    """But those of clocks and of the cache, which are means as tokens are, and what other names stand for."""
    tried = {re.sub(r"\.[^.]+\.", ".*.", name) for each in POPULATIONS for name in each.metrics}
    tried = {re.sub(r"(bin)\..+", r"\1.*", name) for name in tried}
    wanted = {
        re.sub(r"(bin)\..+", r"\1.*", re.sub(r"\.[^.]+\.", ".*.", name))
        for scenario in (Labels(4), Numbers())
        for name in metric_names(scenario)
    }

    assert wanted - tried <= {
        "mce",
        "overflow_rate",
        "truncation_rate",
        "outside_labels",
        "latency_mean",
        "latency_p50",
        "latency_p95",
        "tokens_per_second",
        "joules_mean",
        "joules_per_right",
        "tokens_prompt_mean",
        "tokens_cached_mean",
    }


def test_judging_is_timed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, number in {"CELLS": 2, "SAMPLES": 20, "LARGE_CELL": 30}.items():
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


def test_the_front_of_a_trade_off_is_simulated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["front", "--draws", "4", "--size", "100", "--grid", "3"])
    front.main()
    rows = [line.strip("| ").split(" | ") for line in capsys.readouterr().out.splitlines()[2:]]
    shares = {name: [float(share.split()[0]) for share in found] for name, _, *found in rows}
    assert set(shares) == {"3 equal", "3 on a front, 3 worse by 0.2"}
    assert max(shares["3 equal"][:2]) <= 0.25
    assert shares["3 on a front, 3 worse by 0.2"][2] > 0.1, "decided rightly"


def test_stopping_is_simulated_beside_the_whole_sample(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["stopping", "--repetitions", "8", "--size", "50", "--distance", "0.3", "--trial"]
    for trial in ("accuracy", "mae", "95 % exact", "ten classes", "baseline"):
        monkeypatch.setattr(sys, "argv", [*words, trial])
        stopping.main()
        *_, row = capsys.readouterr().out.splitlines()
        name, size, distance, failed, _, changed, share = row.strip("| ").split(" | ")
        assert (name, size, distance) == (trial, "50", "+0.30")
        assert float(failed) <= 0.5
        assert float(changed) <= 0.5
        assert 0.4 <= float(share) <= 1
