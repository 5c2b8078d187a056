"""A table of support tickets, and the files that `pytest-puma init` writes for it."""

from __future__ import annotations

from pathlib import Path

TICKETS = """id,text,team
T-1,The invoice shows the wrong amount.,billing
T-2,My password is refused.,access
T-3,I was charged twice.,billing
T-4,The second factor never arrives.,access
"""

TEST, ZERO_SHOT, FEW_SHOT = (
    Path("benchmarks", "test_tickets.py"),
    Path("prompts", "tickets", "zero_shot.jinja"),
    Path("prompts", "tickets", "few_shot.jinja"),
)


def rows(*lines: str, header: str = "id,text,team") -> str:
    return "\n".join([header, *lines, ""])
