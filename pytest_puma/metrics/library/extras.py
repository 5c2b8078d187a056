"""Optional dependencies of metrics: the modules that each extra of pytest-puma brings.

`pip install 'pytest-puma[text]'` installs those of `text`; the extra `metrics` installs all.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from pytest_puma.core import Metric
from pytest_puma.platform.installation import install_extra

#: jsonschema skips the formats whose modules are absent, so one of these is asked for too.
MODULES: Mapping[str, tuple[str, ...]] = {
    "text": ("sacrebleu",),
    "json": ("jsonschema", "rfc3339_validator"),
    "lang": ("lingua",),
    "math": ("math_verify",),
}


def missing(metric: Metric) -> str:
    """Return an empty text, or which module the metric lacks and the command that installs it. Imports nothing."""
    absent = next((module for module in MODULES.get(metric.extra, ()) if find_spec(module) is None), None)
    if absent is None:
        return ""
    return f"metric {metric.name!r} needs {absent}, which is not installed; run: {install_extra(metric.extra)}"
