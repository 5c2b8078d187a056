"""The cluster of a run, to which each of its processes has one connection."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from pytest_puma.errors import SettingsError, check_limits
from pytest_puma.session.settings.options import stated

if TYPE_CHECKING:
    from pytest_puma.core import Model
    from pytest_puma.engine.cluster.cluster import Cluster
    from pytest_puma.models.argument import ModelArgument

#: Key of the worker input: the address of the scheduler, also of a cluster that the first process started.
INPUT = "puma_cluster"
_CLUSTER: pytest.StashKey[Cluster] = pytest.StashKey()


def look_up(config: pytest.Config) -> Callable[[ModelArgument], list[Model]] | None:
    """Return the search for weights on the cluster, None without one; a `SettingsError` if energy is asked for."""
    if not config.option.puma_cluster:
        return None
    where, energy = stated(config, "--puma-energy")
    if energy:
        msg = f"--puma-cluster and {where}: the counters of this machine know no other one; expected one of the two"
        raise SettingsError(msg)
    return cluster_of(config).models


def cluster_of(config: pytest.Config) -> Cluster:
    """Return the cluster of `--puma-cluster`, connected when it is first needed."""
    if _CLUSTER not in config.stash:
        from pytest_puma.engine.cluster.cluster import STEP_SECONDS
        from pytest_puma.engine.cluster.connection import connect

        worker = getattr(config, "workerinput", {})
        stated = config.getini("puma_step_seconds")
        seconds = STEP_SECONDS if stated is None else stated
        check_limits({"ini key puma_step_seconds": (seconds, 1, math.inf)})
        cluster = connect(
            worker.get(INPUT, config.option.puma_cluster),
            step_seconds=seconds,
            folders=[str(folder) for folder in config.getini("puma_model_dirs") or ()],
            number=int(worker.get("workerid", "gw0").removeprefix("gw")),
            processes=worker.get("workercount", 1),
        )
        config.add_cleanup(cluster.close)
        config.stash[_CLUSTER] = cluster
    return config.stash[_CLUSTER]
