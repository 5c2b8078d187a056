"""Names of strategies and perturbations."""

from __future__ import annotations

from pytest_puma.perturbations import ALL as PERTURBATIONS
from pytest_puma.perturbations import Perturbation
from pytest_puma.planning.registry import Registry
from pytest_puma.strategies import ALL


def test_all_means_the_twelve_and_each_name_counts_once() -> None:
    assert Registry().strategy_names(["zero-shot", "all", "few_shot"]) == (
        "zero_shot",
        *(n for n in ALL if n != "zero_shot"),
    )


def test_names_of_perturbations_are_canonical_and_count_once() -> None:
    own = Registry(perturbations={"shouted": Perturbation(name="shouted", change=lambda text, _: f"{text}!")})
    names = ["Typos", "none", "typos_5pct", "shouted", "case-lower"]
    assert own.perturbation_names(names) == ("typos_5pct", "shouted", "case_lower")
    assert Registry().perturbation_names(["case_lower", "ALL"]) == (
        "case_lower",
        *(name for name in PERTURBATIONS if name != "case_lower"),
    )
