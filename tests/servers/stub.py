"""An OpenAI-compatible server with faults to order, on this machine."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

MODEL = "tiny"


@dataclass(frozen=True)
class Fault:
    """What happens to a request in place of an answer."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    #: Seconds before the answer; and between any two of its bytes.
    late: float = 0.0
    drip: float = 0.0
    #: The connection ends before the answer, or in the middle of it.
    hangs_up: bool = False
    cut: bool = False

    def __str__(self) -> str:
        return " ".join(f"{name}={value}" for name, value in vars(self).items() if value and name != "body")


def answer(text: str, **more: Any) -> dict[str, Any]:
    """The usual answer with a text; `more` replaces its parts."""
    usage = {"prompt_tokens": 7, "completion_tokens": 2}
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return {"model": MODEL, "choices": [choice | more.pop("choice", {})], "usage": usage} | more


@dataclass(eq=False)
class Stub:
    """The server: `faults` come first, each for one request of a chat; `reply` answers the others."""

    reply: Callable[[dict[str, Any]], Any] = lambda _: answer("Major")
    faults: deque[Fault | None] = field(default_factory=deque)
    pages: dict[str, Any] = field(default_factory=dict)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    url: str = ""
    most: int = 0

    def __post_init__(self) -> None:
        self.pages = {"/v1/models": {"data": [{"id": MODEL, "created": 1, "owned_by": "somebody"}]}} | self.pages
        self.lock, self.now = threading.Lock(), 0


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: Stub

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def do_GET(self) -> None:
        self.stub.headers.append(dict(self.headers))
        page = self.stub.pages.get(self.path, Fault(status=404, body={"error": {"message": "no such path"}}))
        self._send(page if isinstance(page, Fault) else Fault(body=page))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        stub = self.stub
        with stub.lock:
            stub.asked.append(body)
            stub.headers.append(dict(self.headers))
            stub.now += 1
            stub.most = max(stub.most, stub.now)
            fault = stub.faults.popleft() if stub.faults else None
        try:
            if self.path != "/v1/chat/completions":
                fault = Fault(status=404, body={"detail": "Not Found"})
            made = fault or stub.reply(body)
            self._send(made if isinstance(made, Fault) else Fault(body=made))
        finally:
            with stub.lock:
                stub.now -= 1

    def _send(self, fault: Fault) -> None:
        time.sleep(fault.late)
        if fault.hangs_up:
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
            return
        data = fault.body.encode() if isinstance(fault.body, str) else json.dumps(fault.body).encode()
        try:
            self.send_response(fault.status)
            for name, value in fault.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            if fault.cut:
                self.wfile.write(data[: len(data) // 2])
                self.wfile.flush()
                self.connection.shutdown(socket.SHUT_RDWR)
                self.close_connection = True
            elif fault.drip:
                for index in range(len(data)):
                    self.wfile.write(data[index : index + 1])
                    self.wfile.flush()
                    time.sleep(fault.drip)
            else:
                self.wfile.write(data)
        except OSError:  # the client has gone
            self.close_connection = True


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@contextmanager
def serving(stub: Stub, port: int = 0) -> Iterator[Stub]:
    """Serve a stub, at a free port."""
    handler = type("Handler", (_Handler,), {"stub": stub})
    with _Server(("127.0.0.1", port), handler) as server:
        stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        try:
            yield stub
        finally:
            server.shutdown()
