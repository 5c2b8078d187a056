"""Which metrics a cell has: those of its kind of task, the scenario's own, and those that a hook made names."""

from __future__ import annotations

from collections.abc import Collection

from pytest_puma.core import Metric, Scenario, SettingsError
from pytest_puma.core.errors import did_you_mean
from pytest_puma.core.metric_name import MetricName
from pytest_puma.metrics import is_metric, metric_names
from pytest_puma.planning.settings import Registry


def own_scores(scenario: Scenario, registry: Registry) -> tuple[Metric, ...]:
    """The metrics that a scenario lists as `scores`. A `SettingsError` names one that is unknown or does not apply."""
    return tuple(dict.fromkeys(_own(entry, scenario, registry) for entry in scenario.scores))


def available_scores(scenario: Scenario, registry: Registry) -> tuple[Metric, ...]:
    """The scenario's own metrics, and those of hooks that apply to its kind of task."""
    own = own_scores(scenario, registry)
    taken = {name for metric in own for name in metric.names} | set(metric_names(scenario))
    return own + tuple(
        metric for metric in registry.metrics.values() if _applies(metric, scenario) and taken.isdisjoint(metric.names)
    )


def used_scores(scenario: Scenario, registry: Registry, names: Collection[str]) -> tuple[Metric, ...]:
    """The scenario's own metrics, and those of hooks that reports or gates name."""
    own, bases = own_scores(scenario, registry), {MetricName.parse(name).base for name in names}
    others = (metric for metric in available_scores(scenario, registry) if metric not in own)
    return own + tuple(metric for metric in others if not bases.isdisjoint(metric.names))


def check_metric(scenario: Scenario, registry: Registry, name: str) -> str:
    """An empty text, or why a cell of the scenario cannot have this metric and which ones it has."""
    available = available_scores(scenario, registry)
    if is_metric(scenario, name, available):
        return ""
    parsed = MetricName.parse(name)
    names = metric_names(scenario, available)
    if parsed.base in names and parsed.slice is not None:
        column = next(key for key in parsed.slice.keys if key not in scenario.group_columns)
        columns = scenario.group_columns
        there = f"there are: {', '.join(columns)}" if columns else "group_columns of the scenario is empty"
        return f"{scenario.name} has no group column {column!r}; {did_you_mean(column, columns)}{there}"
    declined = next((each for each in registry.metrics.values() if parsed.base in each.names), None)
    if declined is not None:
        fitting = ", ".join(sorted(declined.kinds))
        return f"metric {parsed.base!r} applies to {fitting}; {scenario.name} is a {scenario.task_type}"
    return f"{scenario.name} has no metric {name!r}; {did_you_mean(name, names)}there are: {', '.join(names)}"


def _own(entry: str | Metric, scenario: Scenario, registry: Registry) -> Metric:
    metric = registry.metrics.get(entry) if isinstance(entry, str) else entry
    if not isinstance(metric, Metric):
        names = registry.metrics
        hint = did_you_mean(str(entry), names)
        there = f"there are: {', '.join(names)}" if names else "the hook pytest_puma_metrics makes names names"
        msg = f"{scenario.name}: scores has {entry!r}; {hint}expected a Metric or the name of one; {there}"
        raise SettingsError(msg)
    if not _applies(metric, scenario):
        fitting = ", ".join(sorted(metric.kinds))
        msg = f"{scenario.name}: metric {metric.name!r} applies to {fitting}; this is a {scenario.task_type}"
        raise SettingsError(msg)
    return metric


def _applies(metric: Metric, scenario: Scenario) -> bool:
    return not metric.kinds or scenario.task_type in metric.kinds
