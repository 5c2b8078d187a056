from __future__ import annotations

import subprocess
import sys

import pytest

from pytest_puma.core import Scenario
from pytest_puma.scenarios import BUILTIN


def test_the_bundled_scenarios_are_found_by_name() -> None:
    assert list(BUILTIN) == [
        "triage_jira",
        "estimation_tawos",
        "prioritization_jira",
        "prioritization_jira_both_orders",
    ]
    assert all(scenario.name == name for name, scenario in BUILTIN.items())


@pytest.mark.parametrize("kind", BUILTIN.values(), ids=BUILTIN)
def test_a_bundled_scenario_names_its_file(kind: type[Scenario]) -> None:
    source = kind().source()
    assert source is not None
    assert source.name.startswith("data/")
    assert len(source.digest) == 64


def test_importing_the_scenarios_loads_no_numerical_library() -> None:
    code = (
        "import sys; from pytest_puma.scenarios import BUILTIN; [kind() for kind in BUILTIN.values()]; "
        "print(*sorted({'numpy', 'pandas', 'sklearn', 'jinja2', 'llama_cpp', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)  # noqa: S603 - our own code
    assert done.stdout.strip() == ""
