"""The page of IFEval against the kinds of instruction."""

from __future__ import annotations

import json
import re

from pytest_puma.metrics.library.ifeval import KINDS, read_instructions
from tests.docs.reference import ROOT, names_in

PAGE = (ROOT / "docs" / "reference" / "ifeval.md").read_text(encoding="utf-8")


def test_the_table_has_each_kind_with_its_arguments() -> None:
    rows = [row.split("|")[1:-1] for row in re.findall(r"^\| `.*\|$", PAGE, re.MULTILINE)]
    assert len(rows) == len(KINDS)
    documented = {kind.strip(" `"): names_in(arguments) for kind, arguments, _ in rows}
    assert documented == {name: list(kind.arguments) for name, kind in KINDS.items()}


def test_the_row_of_the_example_is_usable() -> None:
    row = json.loads(PAGE.partition("```json\n")[2].partition("```")[0])
    words, comma = read_instructions("example", row["instruction_id_list"], row["kwargs"])
    assert (words.strict("A lake, wet."), comma.strict("It is wet.")) == (False, True)
