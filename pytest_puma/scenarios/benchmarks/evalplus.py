r"""The files that EvalPlus releases: inputs, and a solution that says what is right, in place of tests.

HumanEvalPlus.jsonl.gz  {"task_id": "HumanEval/0", "prompt": ..., "entry_point": "add", "canonical_solution": ...,
                         "base_input": [[1, 2], ...], "plus_input": [[0, 0], ...], "atol": 0, ...}
MbppPlus.jsonl.gz       {"task_id": "Mbpp/2", "prompt": "\"\"\"\nWrite ...\nassert f(1) == 2\n\"\"\"\n", ...,
                         "assertion": "assert f(1) == 2\n..."}
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pytest_puma.core import DataError
from pytest_puma.scenarios.benchmarks import differential, fields

#: Seconds of computing for the program and the solution on all inputs, and megabytes.
LIMITS = {"seconds": 120, "megabytes": 4096}


def is_release(record: Mapping[str, Any]) -> bool:
    """Whether a record has inputs in place of tests."""
    return "base_input" in record or "plus_input" in record


def as_mbpp(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record of MBPP+ in the form of MBPP: the task and the tests in its prompt are columns of their own."""
    lines = fields.text(record, "prompt").strip().strip('"').strip().splitlines()
    tests = [line for line in lines if line.startswith("assert")]
    number = re.search(r"\d+$", fields.text(record, "task_id"))
    if not tests or number is None:
        msg = f"columns 'task_id' and 'prompt': found {record['task_id']!r} and no number or no test in the prompt; "
        raise DataError(msg + "expected the files that EvalPlus releases, or those of MBPP")
    return {
        "task_id": int(number[0]),
        "text": "\n".join(line for line in lines if not line.startswith("assert")),
        "code": fields.text(record, "canonical_solution"),
        "test_list": tests,
    }


def comparison(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the column of what the program of a record is compared with; none for a record with tests."""
    if not is_release(record):
        return {}
    # The largest file has an object without entries as the inputs of one task.
    more = fields.value(record, list, "plus_input") if record.get("plus_input") != {} else []
    # A solution of MBPP+ has its imports; one of HumanEval+ continues the prompt. A prompt of MBPP+ is a docstring.
    solution = fields.text(record, "prompt") + fields.text(record, "canonical_solution")
    tests = {
        "inputs": json.dumps(fields.value(record, list, "base_input") + more),
        "examples": str(record.get("assertion") or ""),
        "atol": float(fields.value(record, object, "atol")),  # type: ignore[arg-type]
    }
    return {"comparison": {"name": fields.text(record, "entry_point"), "reference": solution, "tests": tests}}


def tests(compared: Mapping[str, Any]) -> str:
    """Return the lines that compare the program before them with the solution, in the same process."""
    source = Path(differential.__file__).read_text(encoding="utf-8")
    spaces = (
        f"_harness, _reference = {{}}, {{}}\nexec({source!r}, _harness)\nexec({compared['reference']!r}, _reference)\n"
    )
    return f"{spaces}_harness['check']({compared['name']!r}, globals(), _reference, {compared['tests']!r})\n"
