"""Arguments of the marker."""

from __future__ import annotations

import pytest

from pytest_puma.core import SettingsError
from pytest_puma.planning.marker import read_marker
from pytest_puma.planning.matrix import expand
from tests.planning.specs import settings


def test_a_marker_takes_a_list_of_perturbations() -> None:
    request = read_marker(["triage_jira"], {"perturb": ["typos", "none"]}, settings())
    assert request.options.perturb == ("typos_5pct",)
    assert read_marker(["triage_jira"], {"perturb": "typos"}, settings()).options.perturb == ("typos_5pct",)
    with pytest.raises(SettingsError, match="the marker's perturb is 3; expected a list of texts"):
        read_marker(["triage_jira"], {"perturb": 3}, settings())
    with pytest.raises(SettingsError, match="perturbation 'typo' is unknown; did you mean"):
        read_marker(["triage_jira"], {"perturb": ["typo"]}, settings())


def test_a_marker_selects_variants_by_patterns() -> None:
    assert read_marker(["triage_jira"], {}, settings()).variants is None
    assert read_marker(["triage_jira"], {"variants": "polite*"}, settings()).variants == ("polite*",)
    with pytest.raises(SettingsError, match=r"the marker's variants is 0\.5; expected a list of texts"):
        read_marker(["triage_jira"], {"variants": 0.5}, settings())
    with pytest.raises(SettingsError, match="variants is empty; expected at least one pattern"):
        read_marker(["triage_jira"], {"variants": []}, settings())


def test_a_marker_takes_a_lone_text_for_a_list_and_metrics_that_exist() -> None:
    arguments = {
        "strategies": "zero-shot",
        "gates": "accuracy > 0",
        "metrics": ["accuracy", "f1_macro"],
        "samples": "all",
    }
    request = read_marker(["triage_jira"], arguments, settings())
    assert (request.options.strategies, request.options.samples) == (("zero_shot",), "all")
    assert (len(request.gates), request.metrics) == (1, ("accuracy", "f1_macro"))
    assert expand(request, settings())[0].metrics == ("accuracy", "f1_macro")
    with pytest.raises(SettingsError, match="metrics: triage_jira has no metric 'f1_makro'; did you mean 'f1_macro'"):
        expand(read_marker(["triage_jira"], {"metrics": "f1_makro"}, settings()), settings())
