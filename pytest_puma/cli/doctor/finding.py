"""A finding: a part of the machine or of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

#: `broken`: no benchmark can run. `advice`: something could be better.
State: TypeAlias = Literal["ok", "advice", "broken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A `part`, the fact `found` about it, and the `advice` for a lack, in lines; `details` are for programs."""

    part: str
    found: str
    state: State = "ok"
    advice: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse a lack without advice."""
        if (self.state == "ok") != (not self.advice):
            msg = f"finding {self.part}: state {self.state} with advice {self.advice!r}; expected advice for each lack"
            raise ValueError(msg)
