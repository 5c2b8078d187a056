"""The metrics of single replies that scenarios, gates and reports name."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import pytest

from pytest_puma.core import Metric, SettingsError
from pytest_puma.metrics.library import EXTRAS, LIBRARY
from pytest_puma.planning.registry import Registry
from pytest_puma.planning.scores import available_scores, check_metric, own_scores, used_scores
from pytest_puma.platform.installation import install_extra
from pytest_puma.scenarios.small import SMALL_SETS
from tests.factories import Triage

PLAIN = Metric(name="plain", score=lambda *_: 1.0)
REGISTRY = Registry(metrics={"plain": PLAIN})


def listing(*scores: str | Metric) -> Triage:
    scenario = Triage()
    vars(scenario)["scores"] = scores
    return scenario


def names(metrics: Sequence[Metric]) -> list[str]:
    return [metric.name for metric in metrics]


def test_scores_name_metrics_of_the_library_and_of_hooks_once() -> None:
    own = own_scores(listing("postscript", "plain", "postscript"), REGISTRY)
    assert own == (LIBRARY["postscript"], PLAIN)


def test_the_primary_metric_of_a_completion_may_be_a_name() -> None:
    """Its kind of task has no metric of its own, so that without this one there would be none."""
    scenario = SMALL_SETS["capitals"]()
    available = names(available_scores(scenario, REGISTRY))
    assert available[0] == scenario.primary_metric() == "contains"
    assert available.count("contains") == 1


def test_an_unknown_score_is_refused_with_the_nearest_name_and_those_that_apply() -> None:
    with pytest.raises(SettingsError, match=r"triage: scores has 'postskript'; did you mean 'postscript'\?") as caught:
        own_scores(listing("postskript"), REGISTRY)
    listed = str(caught.value).split("there are: ")[1].split(", ")
    assert {"postscript", "plain"} <= set(listed)
    assert "accuracy_chars" not in listed  # a classification has no likelihoods of choices


def test_a_score_for_other_kinds_of_task_is_refused() -> None:
    with pytest.raises(SettingsError) as caught:
        own_scores(listing("accuracy_chars"), REGISTRY)
    assert str(caught.value) == "triage: metric 'accuracy_chars' applies to choice; this is a classification"


def test_gates_may_name_any_metric_of_the_library_that_applies() -> None:
    available = names(available_scores(Triage(), REGISTRY))
    assert {"postscript", "plain"} <= set(available)
    assert "accuracy_chars" not in available
    assert check_metric(Triage(), REGISTRY, "postscript") == ""
    assert check_metric(Triage(), REGISTRY, "accuracy_chars") == (
        "metric 'accuracy_chars' applies to choice; triage is a classification"
    )
    assert "no metric 'postskript'; did you mean 'postscript'? there are: " in check_metric(
        Triage(), REGISTRY, "postskript"
    )


def test_only_named_metrics_are_computed() -> None:
    assert used_scores(Triage(), REGISTRY, ()) == ()
    assert names(used_scores(listing("plain"), REGISTRY, ("postscript", "accuracy"))) == ["plain", "postscript"]
    assert names(used_scores(Triage(), REGISTRY, ("postscript[subject=law]",))) == ["postscript"]


def test_a_scenario_may_replace_a_metric_of_the_library_by_its_own() -> None:
    own = Metric(name="postscript", score=lambda *_: 0.0)
    assert [each for each in available_scores(listing(own), REGISTRY) if each.name == "postscript"] == [own]


@pytest.mark.parametrize(("extra", "module"), [(extra, module) for extra, all_ in EXTRAS.items() for module in all_])
def test_a_metric_without_its_library_is_refused_with_the_command_that_installs_it(
    extra: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    needy = Metric(name="needy", score=lambda *_: 1.0, extra=extra)
    registry = Registry(metrics={"needy": needy})
    for other in (each for modules in EXTRAS.values() for each in modules):
        monkeypatch.setitem(sys.modules, other, pytest) if other != module else None
    monkeypatch.setitem(sys.modules, module, None)
    fault = f"metric 'needy' needs {module}, which is not installed; run: {install_extra(extra)}"
    assert check_metric(Triage(), registry, "needy") == fault
    assert check_metric(Triage(), registry, "plain") != fault
    with pytest.raises(SettingsError) as caught:
        own_scores(listing(needy), registry)
    assert str(caught.value).startswith(f"triage: {fault}; --continue-on-collection-errors runs ")
    assert "needy" in names(available_scores(listing(needy), registry)), "a name needs no library"
    assert used_scores(Triage(), registry, ("accuracy",)) == ()


def test_a_metric_with_its_library_is_ready() -> None:
    for extra in EXTRAS:
        needy = Metric(name="needy", score=lambda *_: 1.0, extra=extra)
        assert check_metric(listing(needy), Registry(), "needy") == ""
        assert own_scores(listing(needy), Registry()) == (needy,)


def test_scores_may_list_what_every_cell_of_the_kind_has() -> None:
    listed = listing("f1_macro", "postscript", "truncation_rate", "brier", "tokens_prompt_mean")
    assert own_scores(listed, REGISTRY) == (LIBRARY["postscript"],)
    with pytest.raises(SettingsError, match="scores has 'f1_makro'"):
        own_scores(listing("f1_makro"), REGISTRY)
