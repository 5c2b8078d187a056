r"""HumanEval and MBPP with their tests, as `--puma-run-code` runs them.

EvalPlus has more inputs, in two forms: its releases (`evalplus`), and the forms of the original files:

HumanEvalPlus-OriginFmt.jsonl  as HumanEval.jsonl, with more inputs in "test"
MbppPlus-OriginFmt.jsonl       as mbpp.jsonl, with {"test": "import numpy as np\n..."} beside "test_list"
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytest_puma.core import Scenario
from pytest_puma.scenarios.benchmarks import evalplus
from pytest_puma.scenarios.benchmarks.programs import HumanEval, Mbpp

#: What the tests of EvalPlus import.
_NUMPY = "import numpy"


class HumanEvalRun(HumanEval):
    """HumanEval with its tests, which `--puma-run-code` runs. The tests of EvalPlus are in the same columns."""

    scores = ("tests_passed", "timeout_rate", *HumanEval.scores)

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """Return the name of the function, and its tests with their call."""
        if compared := item.get("comparison"):
            return {"function": item["entry_point"], "tests": evalplus.tests(compared), **evalplus.LIMITS}
        tests = f"{item['test']}\n\ncheck({item['entry_point']})"
        return {"function": item["entry_point"], "tests": tests, "packages": _NUMPY in tests}

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record, with the inputs of EvalPlus."""
        # Its releases have the original tests, too.
        return {**super().row(record), **evalplus.comparison(record)}


class MbppRun(Mbpp):
    """MBPP with its tests, which `--puma-run-code` runs; the `test` of EvalPlus takes their place if a row has one."""

    scores = ("tests_passed", "timeout_rate", *Mbpp.scores)

    def context(self, item: dict[str, Any]) -> Mapping[str, Any]:
        """Return the name of the function, and its tests."""
        if compared := item.get("comparison"):
            return {**super().context(item), "tests": evalplus.tests(compared), **evalplus.LIMITS}
        tests = item["test"] or "\n".join(item["tests"])
        return {**super().context(item), "tests": tests, "packages": _NUMPY in tests}

    def row(self, record: dict[str, Any]) -> dict[str, Any]:
        """Return a record, with the tests or the inputs of EvalPlus."""
        tests = {"test": str(record.get("test") or "")}
        return {**super().row(record), **tests, **evalplus.comparison(record)}


#: The benchmarks as `--puma-run-code` runs them.
TESTED: Mapping[type[Scenario], type[Scenario]] = {HumanEval: HumanEvalRun, Mbpp: MbppRun}
