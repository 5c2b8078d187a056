"""A fake Hugging Face hub: the part of its HTTP interface that lists and downloads a model or a data set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from huggingface_hub import constants

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass(slots=True)
class Hub:
    """The content of the server, and the downloads from it.

    `repositories` maps `owner/repo`, or `datasets/owner/set` at any revision, to its files; those in `gated` show their
    names but not their bytes. While `status` is set, it is the response to every request.
    """

    url: str = ""
    repositories: dict[str, Mapping[str, bytes]] = field(default_factory=dict)
    gated: set[str] = field(default_factory=set)
    status: int | None = None
    downloads: list[str] = field(default_factory=list)

    def clear(self) -> None:
        """Forget everything but the address."""
        self.repositories.clear()
        self.gated.clear()
        self.downloads.clear()
        self.status = None


@contextmanager
def serve(hub: Hub) -> Iterator[Hub]:
    """Answer at `hub.url` until the end of the block."""

    class Handler(_Handler):
        served = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    hub.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def local_hub() -> Iterator[Hub]:
    """A hub that the client uses as if HF_ENDPOINT had been set before its import."""
    with serve(Hub()) as hub, pytest.MonkeyPatch.context() as patch:
        patch.setattr(constants, "ENDPOINT", hub.url)
        patch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", hub.url + "/{repo_id}/resolve/{revision}/{filename}")
        patch.setenv("NO_PROXY", "127.0.0.1")
        yield hub


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    served: Hub

    def do_GET(self) -> None:  # the name that http.server requires
        self._answer()

    def do_HEAD(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  (the name of http.server)
        """Keep the terminal clean."""

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path).strip("/")
        if self.served.status is not None:
            self._send(self.served.status, b"")
        elif path.startswith("api/models/"):
            self._describe(path.removeprefix("api/models/"))
        elif path.startswith("api/datasets/"):
            self._describe("datasets/" + path.removeprefix("api/datasets/").partition("/revision/")[0])
        elif path.startswith("datasets/"):
            repository, _, file = path.partition("/resolve/")
            self._send_file(repository, file.partition("/")[2])
        else:
            repository, _, file = path.partition("/resolve/main/")
            self._send_file(repository, file)

    def _describe(self, repository: str) -> None:
        files = self.served.repositories.get(repository)
        if files is None:
            self._send(401, b"", {"X-Error-Code": "RepoNotFound"})
            return
        siblings = [{"rfilename": name} for name in files]
        info = {"id": repository, "sha": COMMIT, "private": False, "tags": [], "siblings": siblings}
        self._send(200, json.dumps(info).encode(), {"Content-Type": "application/json"})

    def _send_file(self, repository: str, name: str) -> None:
        content = self.served.repositories.get(repository, {}).get(name)
        if repository in self.served.gated:
            self._send(403, b"", {"X-Error-Code": "GatedRepo"})
        elif content is None:
            self._send(404, b"", {"X-Error-Code": "EntryNotFound"})
        else:
            if self.command == "GET":
                self.served.downloads.append(name)
            self._send(200, content, {"ETag": f'"{_oid(content)}"', "X-Repo-Commit": COMMIT})

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for key, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)


def _oid(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()
