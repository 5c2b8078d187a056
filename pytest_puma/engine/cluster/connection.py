"""The connection to a cluster, as `--puma-cluster` names it.

local:2                 a cluster of two processes on this machine, which ends with the run
tcp://head:8786         the scheduler of a cluster that exists; tls:// as Dask's own configuration has it
"""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from pytest_puma.engine.cluster.cluster import Cluster
from pytest_puma.errors import SettingsError
from pytest_puma.platform.installation import install_extra

LOCAL = "local:"


def connect(text: str, **settings: Any) -> Cluster:
    """Return the cluster of a text as `--puma-cluster` has it; a `SettingsError` if there is none."""
    workers = text.removeprefix(LOCAL) if text.startswith(LOCAL) else ""
    if text.startswith(LOCAL) and not (workers.isdecimal() and int(workers) > 0):
        msg = f"--puma-cluster: found {text!r}; expected local:N with N workers, such as local:2"
        raise SettingsError(msg)
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        msg = f"--puma-cluster needs distributed, which is not installed; run: {install_extra('cluster')}"
        raise SettingsError(msg) from error
    # A report of a lost worker names it; Dask's own lines would be in the logs of each test.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    local = None
    if workers:
        local = LocalCluster(
            n_workers=int(workers),
            threads_per_worker=1,
            processes=True,
            # llama.cpp maps files into the memory.
            memory_limit=0,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        )
    try:
        client = Client(local or text)
    except (OSError, ValueError, asyncio.TimeoutError) as error:
        msg = f"--puma-cluster {text}: {error}; expected the address of a Dask scheduler, or local:N"
        raise SettingsError(msg) from error
    return Cluster(client=client, local=local, **settings)
