"""The recipe of `puma-tiny`, the bundled demonstration model: `python -m tools.training --help`."""
