"""All that a run imports."""

import importlib
import pkgutil

import pytest_puma

#: NumPy and Arrow load only once in a process; scikit-learn takes seconds.
_LIBRARIES = (
    "pandas.core.arrays.arrow.extension_types",
    "sklearn.compose",
    "sklearn.linear_model",
    "sklearn.model_selection",
)


def import_all() -> None:
    """Import every module of the package, and the libraries that its functions import."""
    for module in pkgutil.walk_packages(pytest_puma.__path__, "pytest_puma."):
        if module.name != "pytest_puma.__main__":
            importlib.import_module(module.name)
    for name in _LIBRARIES:
        importlib.import_module(name)
