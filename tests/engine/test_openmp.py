from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from pytest_puma.engine.native.openmp import SPINS

#: OpenMP's library prints its settings to standard error at load; then the code prints the variables that remain.
CODE = """
import os, pytest_puma.engine.native
print([name for name in os.environ if name in {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}])
"""


@pytest.mark.parametrize(
    ("user", "policy", "spins"),
    [
        ({}, "PASSIVE", SPINS),
        ({"OMP_WAIT_POLICY": "active"}, "ACTIVE", None),
        ({"GOMP_SPINCOUNT": "777"}, "PASSIVE", 777),
    ],
)
def test_waiting_threads_spin_briefly_unless_the_user_chose(
    user: dict[str, str], policy: str, spins: int | None
) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}}
    environment |= {"OMP_DISPLAY_ENV": "verbose"} | user
    done = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True)  # noqa: S603
    shown = dict(re.findall(r"(OMP_WAIT_POLICY|GOMP_SPINCOUNT) = '(\w+)'", done.stderr))
    if not shown:
        pytest.skip("llama.cpp was compiled without GNU's OpenMP")
    assert shown["OMP_WAIT_POLICY"] == policy
    assert spins is None or int(shown["GOMP_SPINCOUNT"]) == spins
    assert done.stdout.strip() == str(list(user))
