"""Benchmarks as tests request them: by the marker `@pytest.mark.puma(...)`, or with the options of an earlier run.

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3"], samples=50, gates=["f1_macro >= 0.45"])

The cells of a run that is rescored state its samples, strategies and perturbations. An option on the command line
still wins, so that a part can be rescored; a cell that the run does not have is not selected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pytest_puma.core import Model, ModelOptions, SettingsError
from pytest_puma.phrases import did_you_mean
from pytest_puma.planning.matrix import make_scenario
from pytest_puma.planning.settings import BenchmarkSpec, RunOptions, Settings
from pytest_puma.runs.prediction_file import StoredCell
from pytest_puma.runs.recorded_run import RecordedRun

_OPTIONS = tuple(field.name for field in fields(RunOptions))
_KEYWORDS = ("gates", "metrics", "variants", *_OPTIONS)
#: Keywords that take a list of texts, or a single text.
_LISTS = ("strategies", "judge", "perturb", "subjects", "metrics", "gates", "variants")
_MARKER = f"@pytest.mark.puma(scenario, *, {', '.join(_KEYWORDS)})"


def read_marker(args: Sequence[Any], keywords: Mapping[str, Any], settings: Settings) -> BenchmarkSpec:
    """Return the spec of a marker. A `SettingsError` names the argument that is wrong."""
    if len(args) == 1 and isinstance(args[0], BenchmarkSpec):
        return args[0]
    if len(args) != 1:
        msg = f"the marker has {len(args)} positional arguments; expected one, the scenario: {_MARKER}"
        raise SettingsError(msg)
    unknown = sorted(set(keywords) - set(_KEYWORDS))
    if unknown:
        hint = did_you_mean(unknown[0], _KEYWORDS)
        msg = f"the marker does not know {', '.join(unknown)}; {hint}expected {_MARKER}"
        raise SettingsError(msg)
    keywords = dict(keywords) | {name: _texts(name, keywords[name]) for name in _LISTS if name in keywords}
    options = {name: keywords[name] for name in _OPTIONS if name in keywords}
    scenario = make_scenario(args[0], settings)
    if "strategies" in keywords:
        templates = scenario.template_folder or scenario.name
        options["strategies"] = settings.registry.strategy_names(keywords["strategies"], templates=templates)
    if "perturb" in keywords:
        options["perturb"] = settings.registry.perturbation_names(keywords["perturb"])
    return BenchmarkSpec(
        scenario=scenario,
        options=RunOptions(**options),
        gates=tuple(map(settings.registry.gate, keywords.get("gates", ()))),
        variants=keywords.get("variants"),
        metrics=tuple(dict.fromkeys(keywords.get("metrics", ()))),
    )


def _texts(name: str, value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(entry, str) for entry in texts):
        msg = f"the marker's {name} is {value!r}; expected a list of texts"
        raise SettingsError(msg)
    return tuple(texts)


def as_recorded(benchmark: BenchmarkSpec, run: RecordedRun | None, *, test: str) -> BenchmarkSpec:
    """Return the benchmark of a test function with the options of the run.

    A run that had no such function, which may have been renamed since, is searched for the scenario.
    """
    if run is None:
        return benchmark
    cells = [cell for cell in run.cells.values() if cell.name.scenario == benchmark.scenario.name]
    cells = [cell for cell in cells if cell.test == test] or cells
    return replace(benchmark, options=_options(cells).with_defaults(benchmark.options)) if cells else benchmark


def recorded_models(run: RecordedRun) -> tuple[Model, ...]:
    """Return the models of a run, in its order. Their weights are not needed."""
    chats = {cell.name.model: bool(cell.signature.get("chat", True)) for cell in run.cells.values()}
    return tuple(
        Model(name=name, path=run.path, options=ModelOptions(chat=chat), source="run") for name, chat in chats.items()
    )


def _options(cells: Sequence[StoredCell]) -> RunOptions:
    """The options of the cells of one test function, which share their samples."""
    signature = cells[0].signature
    perturbations = (cell.name.perturbation for cell in cells)
    repeats, retries = signature.get("repeats", 1), signature.get("retries", 0)
    return RunOptions(
        strategies=tuple(dict.fromkeys(cell.name.strategy for cell in cells)),
        perturb=tuple(dict.fromkeys(name for name in perturbations if name is not None)),
        samples=signature["samples"],
        repeats=repeats,
        retries=retries,
        prompt_suffix=signature.get("prompt_suffix", ""),
        subjects=tuple(signature.get("subjects", ())) or None,
        seed=signature["seed"],
        # Repeats need a temperature above 0, and retries follow from it. The recorded
        # answers have that of their run in any case.
        temperature=signature["generation"]["temperature"] if repeats > 1 or retries else None,
    )
