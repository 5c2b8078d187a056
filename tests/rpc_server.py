"""One of llama.cpp's RPC servers, as a program: `python -m tests.rpc_server 127.0.0.1:50052` offers the CPU."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from pytest_puma.engine.native.build import call

ROOT = str(Path(__file__).parents[1])


def serve(address: str) -> None:
    """Serve one client after another, for ever."""
    rpc = ctypes.c_void_p(call("ggml_backend_reg_by_name", ctypes.c_void_p, b"RPC"))
    start = call("ggml_backend_reg_get_proc_address", ctypes.c_void_p, rpc, b"ggml_backend_rpc_start_server")
    cpu = call("ggml_backend_dev_by_type", ctypes.c_void_p, ctypes.c_int(0))
    kinds = ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p
    devices = (ctypes.c_void_p * 1)(cpu)
    ctypes.CFUNCTYPE(None, *kinds)(start)(address.encode(), None, 1, len(devices), devices)


class RpcServer:
    """A server in a process of its own, at a free port or at that of an address; it can be reached."""

    def __init__(self, address: str = "") -> None:
        self.address = address or f"127.0.0.1:{free_port()}"
        command = [sys.executable, "-m", "tests.rpc_server", self.address]
        self._process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": ROOT}, stdout=subprocess.DEVNULL)  # noqa: S603 - our own
        while not self._is_reachable():
            assert self._process.poll() is None
            time.sleep(0.05)

    def _is_reachable(self) -> bool:
        host, _, port = self.address.partition(":")
        with socket.socket() as connection:
            return connection.connect_ex((host, int(port))) == 0

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._process.pid

    def freeze(self) -> None:
        """Let it answer nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def close(self) -> None:
        """End it."""
        self._process.kill()
        self._process.wait()


def free_port() -> int:
    """A port where nothing listens."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


if __name__ == "__main__":
    serve(sys.argv[1])
