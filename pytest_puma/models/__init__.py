"""From a `--puma-model` argument to a `Model`: parsed, found or downloaded, checked and named, without loading weights.

`argument.py` describes the grammar of an argument.
"""

from pytest_puma.models.argument import ModelArgument, parse_argument
from pytest_puma.models.digest import known_digest, weights_digest
from pytest_puma.models.gguf import GgufFile, read_gguf
from pytest_puma.models.known import recall, remember
from pytest_puma.models.names import resolve_name
from pytest_puma.models.opened import OpenedFiles
from pytest_puma.models.parts import stamps_of
from pytest_puma.models.resolve import find_model, inspect_model, resolve_models
from pytest_puma.models.search import default_directories

__all__ = [
    "GgufFile",
    "ModelArgument",
    "OpenedFiles",
    "default_directories",
    "find_model",
    "inspect_model",
    "known_digest",
    "parse_argument",
    "read_gguf",
    "recall",
    "remember",
    "resolve_models",
    "resolve_name",
    "stamps_of",
    "weights_digest",
]
