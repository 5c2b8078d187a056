"""The chat format of models: what pytest-puma learned from their own templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from pytest_puma.cli.doctor.finding import Finding
from pytest_puma.cli.doctor.project import Project
from pytest_puma.core import PumaError

_PART = "chat format"


def findings(arguments: Sequence[str], folder: Path) -> Iterator[Finding]:
    """Yield what is found about each model; `arguments` are as for `--puma-model`, from a project in the folder."""
    return (_finding(argument, folder) for argument in arguments)


def _finding(argument: str, folder: Path) -> Finding:
    try:
        return _learned(argument, folder)
    except PumaError as error:
        advice = "name a GGUF file: pytest-puma doctor models/q.gguf"
        return Finding(part=_PART, found=f"{argument}: {error}", advice=advice)


def _learned(argument: str, folder: Path) -> Finding:
    # They import NumPy, which may be broken.
    from pytest_puma.engine.native import DryBackend, smoke_test
    from pytest_puma.models.resolve import inspect_model, resolve_models
    from pytest_puma.platform.bundled import bundled_folder

    directories = [*Project.of(folder).model_folders, bundled_folder("models")]
    (model,) = resolve_models([argument], directories=directories)
    smoke_test(model)
    limit = inspect_model(model.path).context_length or 0
    with closing(DryBackend(model, context_limit=limit)) as backend:
        facts = dict(backend.chat_format)
        notes = [*backend.notes]
    title = f"{model.name}, from the template in {model.path}" if model.options.chat else f"{model.name}: plain text"
    found = "\n".join([title, *(f"{name}: {fact}" for name, fact in facts.items()), *notes])
    return Finding(part=_PART, found=found, details=facts | {"model": model.name})
