"""The workers of a Dask cluster, the models that they have, and the engines on them."""

from __future__ import annotations

import asyncio  # whose TimeoutError is another one up to Python 3.10
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pytest_puma.core import Identity, Model, ModelError, PumaError
from pytest_puma.engine.cluster.actor import EngineActor, find, own_version
from pytest_puma.errors import LostError, SettingsError
from pytest_puma.models.argument import ModelArgument
from pytest_puma.phrases import counted
from pytest_puma.platform.files import Stamp

if TYPE_CHECKING:
    from distributed import Client, LocalCluster

#: Seconds of a step after which a worker counts as lost, by default.
STEP_SECONDS = 600.0
#: Seconds to wait for a first worker, and between two looks at one that computes.
_PATIENCE, _LOOK = 120.0, 1.0
#: Seconds that a model may take to be freed.
_CLOSING = 30.0
#: Seconds in which a nanny starts a worker again, also on a busy machine.
_COMING_BACK = 60.0
_GONE = "its process ended, or its machine is gone"


class Held(NamedTuple):
    """An actor, the future that keeps it alive, and its worker, as messages name it."""

    actor: Any
    future: Any
    address: str
    worker: str


@dataclass(kw_only=True)
class Cluster:
    """An open connection. `folders`: where the workers search for models, empty for their own default.

    `number`: that of this process among `processes` of the run, which take different workers. `local`: the cluster that
    this process has started.
    """

    client: Client
    step_seconds: float = STEP_SECONDS
    folders: Sequence[str] = ()
    number: int = 0
    processes: int = 1
    local: LocalCluster | None = None
    _frozen: set[str] = field(default_factory=set)

    @property
    def address(self) -> str:
        """The address of the scheduler."""
        return str(self.client.scheduler.address)

    def __str__(self) -> str:
        """The words of reports."""
        workers = self.client.nthreads()
        hosts = {_host(address) for address in workers}
        return f"{counted(len(workers), 'worker')} of a cluster ({counted(len(hosts), 'machine')})"

    def addresses(self) -> list[str]:
        """Return the addresses of the workers, at least one; a `SettingsError` if none comes."""
        end = time.monotonic() + _PATIENCE
        # The client's `wait_for_workers` also counts workers that have just ended.
        while not (addresses := sorted(self.client.nthreads())):
            if time.monotonic() >= end:
                msg = f"--puma-cluster: {self.address} has no worker; expected one: dask worker {self.address}"
                raise SettingsError(msg)
            time.sleep(_LOOK)
        return addresses

    def models(self, argument: ModelArgument) -> list[Model]:
        """Return the model of an argument, which all workers must have; a `ModelError` names one without it."""
        if argument.controls:
            msg = f"{argument.controls[0].kind}= makes a variant of the model, and a cluster has none; leave it out"
            raise ModelError(msg)
        found = {address: self._find(address, argument.place) for address in self.addresses()}
        first, *others = found
        for address in others:
            if found[address]["digest"] != found[first]["digest"]:
                facts = (f"{found[a]['digest'][:8]} on {a} ({found[a]['host']})" for a in (first, address))
                msg = f"the workers have different files: {' and '.join(facts)}; expected the same file everywhere"
                raise ModelError(msg)
        return [
            Model(
                name=argument.alias or found[first]["name"],
                path=Path(argument.place),
                options=argument.options,
                source="cluster",
                weights=found[first]["digest"],
                stamps=tuple(Stamp(*stamp) for stamp in found[first]["stamps"]),
            )
        ]

    def _find(self, address: str, place: str) -> Mapping[str, Any]:
        """What a worker has under a place; a `ModelError` if that is nothing, or if another version looked."""
        future = self.client.submit(find, place, list(self.folders), workers=[address], pure=False)
        try:
            found: Mapping[str, Any] = self._result(future, address)
        except PumaError:
            raise
        except Exception as error:
            msg = f"worker {address}: {str(error) or type(error).__name__}; expected pytest-puma {own_version()} there"
            raise ModelError(msg) from error
        where = f"worker {address} ({found['host']})"
        if found["version"] != own_version():
            msg = f"{where} has pytest-puma {found['version']}; expected {own_version()}, as here"
            raise ModelError(msg)
        if found["fault"]:
            msg = f"{where}: {found['fault']}"
            raise ModelError(msg)
        return found

    def _result(self, future: Any, address: str) -> Any:
        """The result of a task; a `LostError` if its worker is gone, as Dask would wait for it, or does not answer."""
        end = time.monotonic() + self.step_seconds
        while time.monotonic() < end:
            with suppress(asyncio.TimeoutError):
                return future.result(timeout=_LOOK)
            if address not in self.client.nthreads():
                raise _lost(address, _GONE)
        self._restart(address)
        raise _lost(address, f"no answer within {self.step_seconds:g} s (ini key puma_step_seconds)")

    # -- engines ---------------------------------------------------------------------------------

    def open(self, model: Model, threads: int | None, *, again: bool = False) -> tuple[Held, Identity]:
        """Load a model on the worker with the fewest engines; a `LostError` if that one is gone meanwhile.

        `again`: after a loss, its worker gets time to come back, rather than two engines on another one.
        """
        address = self._free(patience=_COMING_BACK if again else 0.0)
        found = self._find(address, str(model.path))
        worker = f"{address} ({found['host']})"
        if found["digest"] != model.weights:
            msg = f"worker {worker} has another file: {found['digest'][:8]}; expected {model.weights[:8]}, as before"
            raise ModelError(msg)
        future = self.client.submit(EngineActor, workers=[address], actor=True, pure=False)
        held = Held(self._result(future, address), future, address, worker)
        shared = sum(_host(other) == _host(address) for other in self.addresses())
        identity = self.call(held, "load", model, list(self.folders), threads, min(self.processes, shared))
        return held, identity

    def call(self, held: Held, method: str, *values: Any, **named: Any) -> Any:
        """Call a method of an actor; a `LostError` if its worker is gone, or over the limit of a step."""
        limit = self.step_seconds if method == "step" else STEP_SECONDS
        end = time.monotonic() + limit
        try:
            result = getattr(held.actor, method)(*values, **named)
            while held.future.status == "finished" and time.monotonic() < end:
                with suppress(asyncio.TimeoutError):
                    return result.result(timeout=_LOOK)
        except PumaError:
            raise
        except Exception as error:
            if held.future.status == "finished" and not isinstance(error, OSError):
                raise
            raise _lost(held.worker, _GONE, error) from error
        if held.future.status != "finished":
            raise _lost(held.worker, _GONE)
        self._restart(held.address)
        raise _lost(held.worker, f"a step took more than {limit:g} s (ini key puma_step_seconds)")

    def release(self, held: Held, *, wait: bool) -> None:
        """Free the model of an actor. `wait`: until its memory is free."""
        if wait:
            with suppress(Exception):
                held.actor.close().result(timeout=_CLOSING)
        held.future.release()

    def close(self) -> None:
        """Close the connection, and end the local cluster."""
        self.client.close(timeout=_CLOSING)
        if self.local is not None:
            self.local.close(timeout=_CLOSING)

    def _free(self, patience: float) -> str:
        """The worker with the fewest engines; some seconds of `patience` for one without any.

        Of equal ones, each process of the run takes another.
        """
        end = time.monotonic() + patience
        while True:
            addresses = self.addresses()
            usable = [address for address in addresses if address not in self._frozen] or addresses
            # A nested function travels as code: the scheduler needs no pytest-puma.
            engines = self.client.run_on_scheduler(
                lambda dask_scheduler: {name: len(worker.actors) for name, worker in dask_scheduler.workers.items()}
            )
            turned = usable[self.number % len(usable) :] + usable[: self.number % len(usable)]
            best = min(turned, key=lambda address: engines.get(address, 0))
            if not engines.get(best, 0) or time.monotonic() >= end:
                return best
            time.sleep(_LOOK)

    def _restart(self, address: str) -> None:
        """Let the nanny of a frozen worker end and start it; without one, the worker is left alone."""
        done: dict[str, str] = {}
        with suppress(Exception):
            done = self.client.restart_workers([address], timeout=_CLOSING, raise_for_error=False)
        if done.get(address) != "OK":
            self._frozen.add(address)


def _host(address: str) -> str:
    """The machine in `tcp://10.0.0.3:40123`."""
    return address.rpartition(":")[0]


def _lost(worker: str, why: str, error: Exception | None = None) -> LostError:
    reason = f": {error}" if error is not None and str(error) else ""
    return LostError(f"the engine on the worker {worker} is lost: {why}{reason}")
