"""The recipe of `puma-tiny`, the bundled demonstration model: `python -m tools.training --help`."""

from pathlib import Path

#: Issues and backlog items on which settings are chosen; never trained on.
SELECTION = Path(__file__).parent / "selection"
