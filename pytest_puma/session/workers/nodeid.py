"""Cells in node ids: before a test runs, its id is all that the process which starts the workers has.

`test_triage[triage_jira-few_shot_3@qwen2.5-3b]` names scenario, strategy and model, with `+typos_5pct` before the `@`
if the samples are perturbed. Other parameters of the test may stand around them, and `@group` behind the bracket. The
result is a guess: `test_mail[some-user@example.org]` looks like a cell, and with the models `a` and `a-b` the end
`@a-b-c` may belong to either. Each report of a worker names its cell exactly.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pytest_puma.core.cell_id import CellId

_LIKE_A_CELL = re.compile(r"\[.*\w-\w+(?:\+\w+)?@.+\]")


@dataclass(frozen=True, slots=True)
class Named:
    """The node id of a `test` and the id of its `cell`."""

    test: str
    cell: str

    @property
    def name(self) -> CellId:
        """The parsed id of the cell."""
        from pytest_puma.core.cell_id import CellId

        return CellId.parse(self.cell)


def cells_in(nodeids: Sequence[str], model_names: Callable[[], Sequence[str]]) -> dict[int, Named]:
    """Return the tests that name a cell of these models, by index; `model_names` is called only if needed."""
    candidates = {index: nodeid for index, nodeid in enumerate(nodeids) if _LIKE_A_CELL.search(nodeid)}
    # The longest first, as one name may begin with another.
    names = sorted(model_names(), key=len, reverse=True) if candidates else ()
    if not names:
        return {}
    cell = re.compile(rf"(?<=[\[-])\w+-\w+(?:\+\w+)?@(?:{'|'.join(map(re.escape, names))})(?=-.*\]|\](?:@[^\]]*)?$)")
    matches = ((index, nodeid, cell.search(nodeid)) for index, nodeid in candidates.items())
    return {index: Named(nodeid, match[0]) for index, nodeid, match in matches if match is not None}
