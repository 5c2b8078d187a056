"""Reading of the marker `@pytest.mark.puma(...)`.

@pytest.mark.puma("triage_jira", strategies=["zero_shot", "few_shot_3"], samples=50, gates=["f1_macro >= 0.45"])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from pytest_puma.core import SettingsError
from pytest_puma.phrases import did_you_mean
from pytest_puma.planning.matrix import make_scenario
from pytest_puma.planning.settings import BenchmarkSpec, RunOptions, Settings

_OPTIONS = tuple(field.name for field in fields(RunOptions))
_KEYWORDS = ("gates", "metrics", *_OPTIONS)
#: Keywords that take a list of texts, or a single text.
_LISTS = ("strategies", "perturb", "subjects", "metrics", "gates")
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
        metrics=tuple(dict.fromkeys(keywords.get("metrics", ()))),
    )


def _texts(name: str, value: Any) -> tuple[str, ...]:
    texts = (value,) if isinstance(value, str) else value
    if not isinstance(texts, (list, tuple)) or not all(isinstance(entry, str) for entry in texts):
        msg = f"the marker's {name} is {value!r}; expected a list of texts"
        raise SettingsError(msg)
    return tuple(texts)
