"""Which metrics a cell has: of its kind of task, of its scenario, and those of the library and of hooks it names.

`Checks` finds the metrics and gates that do not fit a scenario.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from itertools import chain

from pytest_puma.core import Gate, Metric, Scenario, SettingsError
from pytest_puma.core.metric_name import MetricName
from pytest_puma.datasets.fields import Groups
from pytest_puma.judges import JUDGED
from pytest_puma.metrics import declaration, is_metric, metric_names, names_of_kind, source_of
from pytest_puma.metrics.library import LIBRARY, missing
from pytest_puma.metrics.library.repeated import of_family
from pytest_puma.phrases import did_you_mean, named, there_are
from pytest_puma.planning.registry import Registry


def own_scores(scenario: Scenario, registry: Registry) -> tuple[Metric, ...]:
    """The metrics that a scenario lists as `scores`.

    Those that every cell of its kind has, such as `accuracy` of choices, need no score. A `SettingsError` names one
    that is unknown, does not apply, or lacks a module.
    """
    declared = _declared(scenario, registry)
    if fault := next(filter(None, map(missing, declared)), ""):
        msg = f"{scenario.name}: {fault}; --continue-on-collection-errors runs the benchmarks of the other files"
        raise SettingsError(msg)
    if declared and of_family(scenario.primary_metric()) is not None:
        expected = "expected it behind the metric that decides whether a trial is right"
        msg = f"{scenario.name}: {scenario.primary_metric()!r} is the first of scores; {expected}"
        raise SettingsError(msg)
    return declared


def available_scores(scenario: Scenario, registry: Registry, names: Iterable[str] = ()) -> tuple[Metric, ...]:
    """The scenario's own metrics, and those of the library and of hooks that apply to its kind of task.

    They have names also if a module that computes one is missing. A family, as `pass_at_K`, has no end: those among the
    `names` are there.
    """
    declared = _declared(scenario, registry)
    taken = {*metric_names(scenario, declared), *(name for metric in declared for name in metric.names)}
    members = (of_family(MetricName.parse(name).base) for name in names)
    known = (*_named(registry).values(), *dict.fromkeys(member for member in members if member is not None))
    return declared + tuple(metric for metric in known if _applies(metric, scenario) and taken.isdisjoint(metric.names))


def used_scores(scenario: Scenario, registry: Registry, names: Collection[str]) -> tuple[Metric, ...]:
    """The scenario's own metrics, and those of the library and of hooks that reports or gates name.

    A metric and its companions come together.
    """
    declared, bases = own_scores(scenario, registry), {MetricName.parse(name).base for name in names}
    available = (metric for metric in available_scores(scenario, registry, names) if metric not in declared)
    named = (metric for metric in available if any(not bases.isdisjoint(m.names) for m in (metric, *metric.companions)))
    return tuple(dict.fromkeys(chain(declared, _with_companions(named))))


def check_metric(scenario: Scenario, registry: Registry, name: str) -> str:
    """An empty text, or why a cell of the scenario cannot have this metric and which ones it has."""
    available = available_scores(scenario, registry, (name,))
    parsed = MetricName.parse(name)
    if is_metric(scenario, name, available):
        return next((missing(metric) for metric in available if parsed.base in metric.names), "")
    names = metric_names(scenario, available)
    if parsed.base in names and parsed.slice is not None:
        column = next(key for key in parsed.slice.keys if key not in scenario.group_columns)
        columns = scenario.group_columns
        known = there_are(column, columns) if columns else "group_columns of the scenario is empty"
        return f"{scenario.name} has no group column {column!r}; {known}"
    declined = next((metric for metric in _named(registry).values() if parsed.base in metric.names), None)
    if declined is not None:
        fitting = ", ".join(sorted(declined.kinds))
        return f"metric {parsed.base!r} applies to {fitting}; {scenario.name} is a {scenario.task_type}"
    return f"{scenario.name} has no metric {name!r}; {there_are(name, names)}"


class Checks:
    """Which metrics and gates fit a scenario; without `groups`, its rows are not read."""

    def __init__(self, scenario: Scenario, registry: Registry, groups: Groups | None) -> None:
        self._scenario, self._registry, self._groups = scenario, registry, groups
        self._available = available_scores(scenario, registry)
        # Most cells have the same gates, and each look at what a scenario has costs milliseconds.
        self.of_gate = cache(self._of_gate)

    def _available_with(self, name: str) -> tuple[Metric, ...]:
        """The available metrics, with the member of a family that has the name."""
        is_member = of_family(MetricName.parse(name).base) is not None
        return available_scores(self._scenario, self._registry, (name,)) if is_member else self._available

    def may_apply(self, gate: Gate) -> bool:
        """Whether a gate of the run may apply to a cell: one without a scope needs its metric and group."""
        return (
            gate.scope is not None
            or bool(gate.word)
            or (
                is_metric(self._scenario, gate.metric, self._available_with(gate.metric))
                and not self._without_rows(gate.metric)
            )
        )

    def of_metric(self, metric: str) -> str:
        """Return why no cell has a metric, or why no row is in its group; empty if there is one."""
        return check_metric(self._scenario, self._registry, metric) or self._without_rows(metric)

    def _of_gate(self, gate: Gate) -> str:
        """Return why a gate can never apply to the scenario; empty if it can."""
        if gate.word:
            return ""
        fault = check_metric(self._scenario, self._registry, gate.metric) or self._unfit(gate)
        return fault or self._out_of_bounds(gate) or self._without_rows(gate.metric)

    def _without_rows(self, metric: str) -> str:
        return "" if self._groups is None else self._groups.absent(MetricName.parse(metric).slice)

    def _out_of_bounds(self, gate: Gate) -> str:
        """Return why each value of the metric keeps the gate, or none does; empty if its limit makes a difference."""
        statistic = declaration(self._scenario, gate.metric, self._available_with(gate.metric))
        if statistic is None or statistic.bounds is None or gate.quotient:
            return ""
        low, high = statistic.bounds
        reach = (low, high) if gate.other is None else (low - high, high - low)
        if reach[0] <= gate.limit <= reach[1]:
            return ""
        is_percentage = (low, high) == (0, 1) and 1 < abs(gate.limit) <= 100  # noqa: PLR2004 - in percent
        hint = f"did you mean {abs(gate.limit) / 100:g}?" if is_percentage else "expected a number in this range"
        change = "" if gate.other is None else f", and changes by at most {high - low:g}"
        return f"{gate.metric} is {low:g} to {high:g}{change}; {hint}"

    def _unfit(self, gate: Gate) -> str:
        """Return why a gate cannot limit an existing metric, empty if it can."""
        metric, programs = MetricName.parse(gate.metric).base, self._scenario.kind.naive_baselines
        source = source_of(metric)
        if gate.other == "baseline" and source in {"clock", "energy"}:
            return f"baselines hold no {metric}, as clocks differ; expected a number"
        if gate.other == "baseline" and source == "log-probabilities":
            return f"baselines hold no log-probabilities, so {metric} cannot be compared; expected a number"
        if gate.other == "plain" and source == "distributions":
            return f"{metric} is a distance from the plain model already; expected a number"
        if metric == "mce":
            return "mce is the gap of one bin, mostly one of few samples, and large by chance; expected brier, or ece"
        if gate.naive is not None and gate.naive not in programs:
            return (
                f"{self._scenario.name} has no {gate.other}; there are: {named(f'naive.{name}' for name in programs)}"
            )
        return ""


def _declared(scenario: Scenario, registry: Registry) -> tuple[Metric, ...]:
    """The metrics that a scenario lists as `scores`, except for those that every cell of its kind has."""
    of_kind = names_of_kind(scenario)
    own = (_own(entry, scenario, registry) for entry in scenario.scores if entry not in of_kind)
    return tuple(dict.fromkeys(_with_companions(own)))


def _own(entry: str | Metric, scenario: Scenario, registry: Registry) -> Metric:
    metric = _named(registry).get(entry, of_family(entry)) if isinstance(entry, str) else entry
    if not isinstance(metric, Metric):
        names = [name for name, known in _named(registry).items() if _applies(known, scenario)]
        hint = did_you_mean(str(entry), names)
        expected = f"expected a Metric or the name of one; there are: {named(names)}"
        msg = f"{scenario.name}: scores has {entry!r}; {hint}{expected}"
        raise SettingsError(msg)
    if not _applies(metric, scenario):
        fitting = ", ".join(sorted(metric.kinds))
        msg = f"{scenario.name}: metric {metric.name!r} applies to {fitting}; this is a {scenario.task_type}"
        raise SettingsError(msg)
    return metric


def _named(registry: Registry) -> Mapping[str, Metric]:
    """The metrics that have a name: those of the library, those that ask a judge, and those of hooks."""
    known = chain(LIBRARY.values(), JUDGED.values(), registry.metrics.values())
    return {metric.name: metric for metric in _with_companions(known)}


def _with_companions(metrics: Iterable[Metric]) -> Iterable[Metric]:
    return (companion for metric in metrics for companion in (metric, *metric.companions))


def _applies(metric: Metric, scenario: Scenario) -> bool:
    return not metric.kinds or scenario.task_type in metric.kinds
