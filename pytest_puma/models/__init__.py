"""From a `--puma-model` argument to a `Model`: parsed, found or downloaded, checked and named, without loading weights.

`argument.py` describes the grammar of an argument.
"""

from pytest_puma.models.argument import ModelArgument, parse_argument
from pytest_puma.models.gguf import GgufFile, read_gguf
from pytest_puma.models.names import resolve_name
from pytest_puma.models.resolve import find_model, inspect_model, resolve_models
from pytest_puma.models.search import default_directories
from pytest_puma.models.weights import OpenedFiles, known_digest, recall, remember, stamps_of, weights_digest

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
