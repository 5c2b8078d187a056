"""llama.cpp's own server, in a process that can be killed; and a proxy before it that has faults to order."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from tests.servers.stub import Fault, Stub, serving

ROOT = Path(__file__).parents[2]
#: One answer after the other, each computed alone.
ALONE = {"cache_prompt": False}


class LlamaServer:
    """The server of a model file, which computes as `--puma-strict` does. `address` is another one after each start."""

    def __init__(self, model: Path) -> None:
        pytest.importorskip("xllamacpp")
        settings = ("1", "1", "4096", "--no-flash-attention")
        self._command = [sys.executable, "-m", "tools.speed.server", str(model), *settings]
        self.start()

    def start(self) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(  # noqa: S603 - ourselves
            self._command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True
        )
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().strip()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()

    def ask(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return its answer, or the fault that a proxy before it would report."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(f"{self.address}{path}", data=data, headers={"Content-Type": "application/json"})  # noqa: S310
        try:
            with urlopen(request) as reply:  # noqa: S310 - of this machine
                return json.load(reply)
        except HTTPError as error:
            return Fault(status=error.code, body=json.load(error))
        except (HTTPException, OSError):
            return Fault(status=502, body={"error": {"message": "the server behind the proxy has gone"}})


@contextmanager
def proxied(server: LlamaServer) -> Iterator[Stub]:
    """Serve what a server answers, after the faults of the stub."""
    pages = {path: server.ask(path) for path in ("/v1/models", "/props")}
    with serving(Stub(reply=lambda body: server.ask("/v1/chat/completions", body | ALONE), pages=pages)) as stub:
        yield stub
