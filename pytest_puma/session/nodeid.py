"""What the id of a test says of its cell: all that is known of a test, before it runs, in the process with the workers.

`test_triage[triage_jira-few_shot_3@qwen2.5-3b]` names scenario, cell and model, with `+typos_5pct` before the `@` where
the samples are perturbed; other parameters of the test may stand around them, and `@group` behind the bracket. It is a
best guess: `test_mail[some-user@example.org]` looks alike, and with the models `a` and `a-b` the end `@a-b-c` may be of
either. Workers tell the cell itself with each report.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_puma.core.cell_id import CellId

_ALIKE = re.compile(r"\[.*\w-\w+(?:\+\w+)?@.+\]")


@dataclass(frozen=True, slots=True)
class Named:
    """A cell's id, with the scenario and the model that it names, and the id of its test."""

    test: str
    cell: str

    @property
    def name(self) -> CellId:
        """The names in the cell's id."""
        from pytest_puma.core.cell_id import CellId

        return CellId.parse(self.cell)

    @property
    def scenario(self) -> str:
        """The name of the scenario."""
        return self.name.scenario

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.name.model


def cells_in(nodeids: Sequence[str], model_names: Callable[[], Sequence[str]]) -> dict[int, Named]:
    """The tests that name a cell of one of these models, by place; these are asked for when some id looks alike."""
    alike = {place: nodeid for place, nodeid in enumerate(nodeids) if _ALIKE.search(nodeid)}
    # The longest first: the name of one model may be how another's begins.
    names = sorted(model_names(), key=len, reverse=True) if alike else ()
    if not names:
        return {}
    cell = re.compile(rf"(?<=[\[-])\w+-\w+(?:\+\w+)?@(?:{'|'.join(map(re.escape, names))})(?=-.*\]|\](?:@[^\]]*)?$)")
    matches = ((place, nodeid, cell.search(nodeid)) for place, nodeid in alike.items())
    return {place: Named(nodeid, match[0]) for place, nodeid, match in matches if match is not None}
