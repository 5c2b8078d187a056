"""Checks of a scenario's declaration, before anything else reads it. Users write scenarios, in Python without types.

    stop = "es"     Garden: stop is the text 'es', which Python reads letter by letter; expected a tuple: write ('es',)

Each error is a `SettingsError` that begins with the name of the class.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, isfunction, signature
from typing import Any, NoReturn

from pytest_puma.core import Metric, PumaError, Scenario, SettingsError
from pytest_puma.phrases import did_you_mean, shown, there_are
from pytest_puma.scenarios.file import FileScenario
from pytest_puma.task_types import KINDS

_PACKAGE = __name__.partition(".")[0]
#: Attributes that hold several texts.
_NAMES = ("text_fields", "unit_columns", "group_columns", "strategies", "protected", "data_tags", "stop")
_FLAGS = ("ordered", "balanced")
#: Minimum similarity of a misspelt name: `orderd` is `ordered`, but `row` is not `rows`.
_SIMILARITY = 0.86


def check_class(scenario: type[Scenario]) -> None:
    """Refuse a class that cannot be made: one that lacks a method, or whose constructor needs arguments.

    One with a `__new__` of its own may make an instance of another class.
    """
    if scenario.__new__ is not object.__new__:
        return
    if missing := sorted(getattr(scenario, "__abstractmethods__", ())):
        methods = ", ".join(_call(name, getattr(scenario, name)) for name in missing)
        _refuse(scenario, f"no method {methods}; define it in the class")
    if not _takes(scenario, 0):
        needs = ", ".join(signature(scenario).parameters)
        name = scenario.__name__
        _refuse(scenario, f"its constructor needs ({needs}); expected an instance: @pytest.mark.puma({name}(...))")


def check_name(scenario: type[Scenario] | Scenario) -> None:
    """Refuse a scenario without a usable name."""
    name = getattr(scenario, "name", None)
    if not isinstance(name, str) or not name.isidentifier():
        _refuse(scenario, f"the scenario's name is {name!r}; expected letters, digits and '_'")


def check_declared(scenario: Scenario) -> None:
    """Refuse attributes and methods of the wrong kind."""
    check_name(scenario)
    kind = getattr(scenario, "task_type", None)
    if kind not in KINDS:
        _refuse(scenario, f"the scenario's task_type is {kind!r}; {there_are(str(kind), KINDS)}")
    _check_names(scenario)
    _check_methods(scenario)
    for name in _FLAGS:
        if not isinstance(getattr(scenario, name, False), bool):
            _refuse(scenario, f"{name} is {getattr(scenario, name)!r}; expected True or False")
    for name in _NAMES:
        _check_texts(scenario, name, getattr(scenario, name))
    # Entries that are neither texts nor metrics are refused where metrics are looked up.
    _check_texts(scenario, "scores", scenario.scores, of=object)
    _check_texts(scenario, "hidden_fields()", _result(scenario, "hidden_fields"))
    _check_columns(scenario)
    _check_labels(scenario)
    _check_metrics(scenario)


def _check_names(scenario: Scenario) -> None:
    """Refuse a misspelt name in a class of the user: the declaration would be ignored.

    A name beside the one that it resembles is no misspelling.
    """
    classes = type(scenario).__mro__
    users = [kind for kind in classes if kind.__module__.partition(".")[0] != _PACKAGE]
    inherited = {name for kind in classes if kind not in users for name in dir(kind) if not name.startswith("_")}
    for kind in users:
        for name in vars(kind):
            if name.startswith("_") or name in inherited:
                continue
            if hint := did_you_mean(name, inherited - vars(kind).keys(), similarity=_SIMILARITY):
                remedy = "rename it, or begin its name with an underscore if it is your own"
                _refuse(scenario, f"it declares {name!r}; {hint}{remedy}")


def _check_methods(scenario: Scenario) -> None:
    """Refuse a method that cannot take what it is called with."""
    for name, declared in vars(Scenario).items():
        if name.startswith("_") or not isfunction(declared):
            continue
        method, expected = getattr(scenario, name), _call(name, declared)
        if not callable(method):
            _refuse(scenario, f"{name} is {shown(method)}; expected a method: def {expected}")
        if not _takes(method, len(signature(declared).parameters) - 1):
            found = _call(name, getattr(method, "__func__", method))
            _refuse(scenario, f"found {found}; expected {expected}")


def _check_columns(scenario: Scenario) -> None:
    """Refuse a file without a column of gold answers, and names of columns that are no tuples."""
    if not isinstance(scenario, FileScenario):
        return
    if not isinstance(scenario.columns, Mapping):
        _refuse(scenario, f"columns is {shown(scenario.columns)}; expected a dictionary: {{'text': ('sentence',)}}")
    for column, names in scenario.columns.items():
        _check_texts(scenario, f"columns[{column!r}]", names)
    label, kind = getattr(scenario, "label_column", None), type(scenario)
    reads_label = kind.layout is FileScenario.layout or kind.gold_label is FileScenario.gold_label
    if reads_label and not scenario.composes and not isinstance(label, str):
        _refuse(scenario, f"label_column is {label!r}; expected the name of the column of the gold answer")


def _check_labels(scenario: Scenario) -> None:
    labels, kind = _result(scenario, "valid_labels"), scenario.kind
    if isinstance(labels, str):
        _refuse(scenario, f"valid_labels() is {_lone(labels)}; expected a list: write {[labels]!r}")
    found = f"valid_labels() is {shown(labels)}; expected "
    if not isinstance(labels, (list, tuple)):
        reason = ": the order of a set changes from run to run" if isinstance(labels, (set, frozenset)) else ""
        _refuse(scenario, f"{found}a list of texts{reason}")
    if not all(isinstance(label, str) for label in labels):
        _refuse(scenario, f"{found}a list of texts: write {shown([str(label) for label in labels])}")
    if kind.closed and not labels:
        _refuse(scenario, f"{found}all answers there are")
    seen: set[str] = set()
    for label in labels:
        if not label.strip():
            _refuse(scenario, f"valid_labels() has {label!r}; expected texts that are not empty")
        same = kind.gold(label, labels)
        if same is None:
            _refuse(scenario, f"valid_labels() has {label!r}; expected {kind.expected(labels)} as text")
        if same in seen:
            _refuse(scenario, f"valid_labels() has {label!r} twice; expected each label once")
        seen.add(same)


def _check_metrics(scenario: Scenario) -> None:
    """Refuse metrics that cannot take what they are called with: all predictions, or a sample and its prediction."""
    metrics = _result(scenario, "metrics")
    if not isinstance(metrics, Mapping):
        _refuse(
            scenario,
            f"metrics() is {shown(metrics)}; expected a dictionary of names and functions: {{'f': f}}",
        )
    for name, metric in metrics.items():
        if not isinstance(name, str):
            _refuse(scenario, f"metrics() has {name!r}; expected a text as the name of a metric")
        score = metric.score if isinstance(metric, Metric) else metric
        expected = f"expected a function of a list of predictions: def {name}(predictions)"
        if not callable(score):
            _refuse(scenario, f"metrics(): {name!r} is {shown(score)}; {expected}")
        if not _takes(score, 1):
            where = "put @metric before a function of a sample and its prediction, and it into scores"
            _refuse(scenario, f"metrics(): {name!r} is a function of {_parameters(score)}; {expected}; {where}")
    for metric in scenario.scores:
        if isinstance(metric, Metric) and metric.per != "cell" and not _takes(metric.score, 2):
            found = f"scores: {metric.name!r} is a function of {_parameters(metric.score)}; "
            form = 'expected a function of a sample and its prediction, or @metric(per="cell") before one of a list'
            _refuse(scenario, found + form)


def _check_texts(scenario: Scenario, name: str, value: object, *, of: type = str) -> None:
    """Refuse a value that is no tuple or list of texts."""
    if isinstance(value, str):
        _refuse(scenario, f"{name} is {_lone(value)}; expected a tuple: write {(value,)!r}")
    if not isinstance(value, (tuple, list)) or not all(isinstance(element, of) for element in value):
        _refuse(scenario, f"{name} is {shown(value)}; expected a tuple of texts")


def _result(scenario: Scenario, method: str) -> Any:
    """The result of a method without arguments."""
    try:
        return getattr(scenario, method)()
    except PumaError:
        raise
    except Exception as error:
        msg = f"{type(scenario).__name__}: {method}() failed with {error!r}"
        raise SettingsError(msg) from error


def _takes(function: Callable[..., object], count: int) -> bool:
    """Whether a function can be called with as many values."""
    try:
        signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # of a built-in function nothing is known
        return True
    return True


def _call(name: str, function: Callable[..., object]) -> str:
    return f"{name}{_parameters(function)}"


def _parameters(function: Callable[..., object]) -> str:
    """The names of the parameters: `(self, response)`."""
    full = signature(function)
    bare = [name.replace(annotation=Parameter.empty, default=Parameter.empty) for name in full.parameters.values()]
    return str(full.replace(parameters=bare, return_annotation=Signature.empty))


def _lone(text: str) -> str:
    return f"the text {shown(text)}, which Python reads letter by letter"


def _refuse(scenario: type[Scenario] | Scenario, fault: str) -> NoReturn:
    kind = scenario if isinstance(scenario, type) else type(scenario)
    msg = f"{kind.__name__}: {fault}"
    raise SettingsError(msg)
