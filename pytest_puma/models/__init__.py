"""From a `--puma-model` argument to a `Model`: parsed, found or downloaded, checked and named, without loading weights.

`argument.py` describes the grammar of an argument.
"""
