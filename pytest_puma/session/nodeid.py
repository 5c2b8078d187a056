"""What the id of a test says of its cell: all that is known of a test in the process that starts the workers.

`test_triage[triage_jira-few_shot_3@qwen2.5-3b]` names scenario, cell and model, with `+typos_5pct` before the `@` where
the samples are perturbed; other parameters of the test may stand around them. Ids of other tests may look alike:
`test_mail[some-user@example.org]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

_CELL = re.compile(r"\[(?:.*-)?((\w+)-\w+(?:\+\w+)?)@(.+)\]$")


@dataclass(frozen=True, slots=True)
class Named:
    """A cell's id, with the scenario and the model that it names."""

    cell: str
    scenario: str
    model: str


def cells_in(nodeids: Iterable[str], model_names: Callable[[], Sequence[str]]) -> dict[str, Named]:
    """The ids that name a cell of one of these models; which there are is asked only when some id looks like one."""
    alike = {nodeid: match for nodeid in nodeids if (match := _CELL.search(nodeid))}
    # The longest first: the name of one model may be how another's begins.
    names = sorted(model_names(), key=len, reverse=True) if alike else ()
    found = {}
    for nodeid, match in alike.items():
        model = next((name for name in names if match[3].startswith(name)), None)
        if model is not None:
            found[nodeid] = Named(f"{match[1]}@{model}", match[2], model)
    return found
