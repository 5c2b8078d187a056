"""What each worker of a cluster must have before anything is computed."""

from __future__ import annotations

import logging
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pytest_puma.core import ModelError
from pytest_puma.engine.cluster.actor import own_version
from pytest_puma.engine.cluster.cluster import Cluster
from pytest_puma.engine.cluster.connection import connect
from pytest_puma.errors import LostError, SettingsError
from pytest_puma.models.argument import parse_argument
from tests.tiny_gguf import LLAMA_BOS, write_gguf

distributed = pytest.importorskip("distributed")

#: Another version of pytest-puma on a worker.
OTHER = "import importlib.metadata as m; v = m.version; m.version = lambda n: '0.0.9' if n == 'pytest-puma' else v(n)"
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    local = distributed.LocalCluster(
        n_workers=0, processes=True, dashboard_address="127.0.0.1:0", silence_logs=logging.CRITICAL
    )
    cluster = connect(local.scheduler_address)
    yield cluster
    cluster.close()
    local.close()


@pytest.fixture
def start(cluster: Cluster, tmp_path: Path) -> Iterator[Start]:
    """Starts a worker in a folder of its own, with a model there or without one."""
    started: list[subprocess.Popen[bytes]] = []

    def start(model: Path | None, *options: str) -> subprocess.Popen[bytes]:
        folder = tmp_path / f"worker-{len(started)}"
        folder.mkdir()
        if model is not None:
            shutil.copy(model, folder / "q.gguf")
        command = [sys.executable, "-m", "distributed.cli.dask_worker", cluster.address, "--no-nanny", "--no-dashboard"]
        command += ["--nthreads=1", *options]
        started.append(subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL))  # noqa: S603 - our own
        cluster.client.wait_for_workers(len(started), timeout=120)
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
    while cluster.client.nthreads():
        time.sleep(0.1)


def test_a_model_is_looked_up_on_each_worker(cluster: Cluster, start: Start, gguf: Path) -> None:
    start(gguf)
    start(gguf)
    (model,) = cluster.models(parse_argument("small=q.gguf,n_ctx=512"))
    assert (model.name, model.path, model.options.n_ctx, model.source) == ("small", Path("q.gguf"), 512, "cluster")
    assert model.size == gguf.stat().st_size


def test_a_worker_without_the_model_is_named(cluster: Cluster, start: Start, gguf: Path) -> None:
    start(gguf)
    start(None)
    with pytest.raises(ModelError, match=r"^worker tcp://[\d.:]+ \(.+\): no such file in .*puma-tiny.*; give a path"):
        cluster.models(parse_argument("q.gguf"))


def test_workers_with_different_files_are_named(cluster: Cluster, start: Start, gguf: Path, tmp_path: Path) -> None:
    start(gguf)
    start(write_gguf(tmp_path / "other.gguf", LLAMA_BOS))
    one = r"\w{8} on tcp://[\d.:]+ \(.+\)"
    with pytest.raises(
        ModelError, match=rf"^the workers have different files: {one} and {one}; expected the same file"
    ):
        cluster.models(parse_argument("q.gguf"))


def test_a_worker_of_another_version_is_named(cluster: Cluster, start: Start, gguf: Path) -> None:
    start(gguf, "--preload", OTHER)
    expected = re.escape(f"has pytest-puma 0.0.9 (engine 1, batches 2); expected {own_version()}, as here")
    with pytest.raises(ModelError, match=rf"^worker tcp://[\d.:]+ \(.+\) {expected}$"):
        cluster.models(parse_argument("q.gguf"))


def test_a_variant_is_refused(cluster: Cluster) -> None:
    with pytest.raises(ModelError, match=r"^lora= makes a variant of the model, and a cluster has none; leave it out$"):
        cluster.models(parse_argument("q.gguf,lora=tone.gguf:0/1"))


def test_a_lost_engine_is_replaced_by_one_on_another_worker(cluster: Cluster, start: Start, gguf: Path) -> None:
    first, second = start(gguf), start(gguf)
    (model,) = cluster.models(parse_argument("q.gguf"))
    held, identity = cluster.open(model, threads=1)
    assert identity.weights == model.weights
    pids = cluster.client.run(os.getpid)
    lost = first if pids[held.address] == first.pid else second
    lost.kill()
    lost.wait()
    with pytest.raises(LostError, match=r"^the engine on the worker tcp://[\d.:]+ \(.+\) is lost: its process ended"):
        cluster.call(held, "step", [], anew=True)
    other, again = cluster.open(model, threads=1)
    assert other.address != held.address
    assert again == identity
    cluster.release(other, wait=True)


def test_a_worker_that_is_gone_is_not_waited_for(cluster: Cluster, start: Start, gguf: Path) -> None:
    start(gguf)
    (model,) = cluster.models(parse_argument("q.gguf"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cluster, "_free", lambda **_: "tcp://127.0.0.1:9")
        with pytest.raises(LostError, match=r"^the engine on the worker tcp://127.0.0.1:9 is lost: its process ended"):
            cluster.open(model, threads=1)


def test_a_worker_may_come_late_or_not_at_all(cluster: Cluster, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pytest_puma.engine.cluster.cluster._PATIENCE", 0.0)
    with pytest.raises(SettingsError, match=r"--puma-cluster: (\S+) has no worker; expected one: dask worker \1"):
        cluster.addresses()
    monkeypatch.undo()
    # As after the end of the last worker, which the client of Dask still counts for a moment.
    monkeypatch.setattr(type(cluster.client), "wait_for_workers", lambda *_, **__: None)
    threading.Timer(0.5, start, [None]).start()
    assert len(cluster.addresses()) == 1
