"""What the doctor finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

State: TypeAlias = Literal["ok", "advice", "broken"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A `part`, the fact `found` about it, and the `advice` for a lack, in lines.

    `broken`: no benchmark can run. `details`: for programs.
    """

    part: str
    found: str
    advice: str = ""
    broken: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)

    @property
    def state(self) -> State:
        """`advice`: something could be better."""
        return "broken" if self.broken else "advice" if self.advice else "ok"
