"""Extension points of a project or a plugin, as pytest hooks. Each docstring is a working example.

Put the hooks into `conftest.py`, in the folder named on the command line or in the root of the project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pytest_puma.core import Backend, Metric, Model, Responder, ResponderRole, Scenario, Variant
    from pytest_puma.perturbations import Perturbation
    from pytest_puma.strategies import Strategy


@pytest.hookspec
def pytest_puma_scenarios() -> list[type[Scenario]]:  # type: ignore[empty-body]
    """Add scenarios by name: in markers, in run-specs, in `--puma-scenario` and `--puma-data`.

    def pytest_puma_scenarios():
        return [MyScenario]
    """


@pytest.hookspec
def pytest_puma_strategies() -> list[Strategy]:  # type: ignore[empty-body]
    """Add strategies by name.

    def terse(task):
        response = yield from ask(task.generate(task.prompt()))
        return Answer(value=task.read(response), responses=(response,))

    def pytest_puma_strategies():
        return [Strategy(name="terse", converse=terse, templates=("terse",))]
    """


@pytest.hookspec
def pytest_puma_perturbations() -> list[Perturbation]:  # type: ignore[empty-body]
    """Add perturbations by name: in markers, in run-specs and in `--puma-perturb`.

    def shouted(text, random):
        return text + "!" * random.randint(1, 3)

    def pytest_puma_perturbations():
        return [Perturbation(name="shouted", change=shouted)]
    """


@pytest.hookspec
def pytest_puma_metrics() -> list[Metric]:  # type: ignore[empty-body]
    """Add metrics by name: in gates, in the marker's `metrics`, and in the `scores` of scenarios.

    @metric(better="low", unit="words", bounds=None)
    def reply_length(sample, prediction):
        return len(prediction.text.split())

    def pytest_puma_metrics():
        return [reply_length]
    """


@pytest.hookspec
def pytest_puma_variants(model: Model) -> list[Variant]:  # type: ignore[empty-body]
    """Also run these variants of a model, which is plain; the hook is called once for each.

    def pytest_puma_variants(model):
        polite = ControlVector.load("polite.gguf") - 0.5 * ControlVector.load("verbose.gguf")
        tone = lora("tone.gguf", strength=0.2)
        return [Variant.of(steer(polite, strength=s, layers=10), tone, name=f"mix-{s:g}") for s in (0.5, 1)]
    """


@pytest.hookspec(firstresult=True)
def pytest_puma_backend(model: Model) -> Backend | None:
    """Return the backend that computes a model; the first one that is not None, else llama.cpp.

    def pytest_puma_backend(model):
        return ScriptedBackend({"crash": "Critical"}, default="Minor")
    """


@pytest.hookspec(firstresult=True)
def pytest_puma_responder(model: Model, role: ResponderRole) -> Responder | None:
    """Return what answers in place of a model, such as a client of a server; the first one that is not None.

    `role`: "model", or "judge" for what metrics ask: `model` is then that of `--puma-judge`, else the one to judge.

    def pytest_puma_responder(model, role):
        return Client(model.name) if role == "model" and model.name.startswith("remote") else None
    """
