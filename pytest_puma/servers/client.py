"""The HTTP client of one server: JSON in, JSON out, and a request that failed is sent again where that can help.

A request is sent again after the statuses in `AGAIN`, and after a connection that was refused or cut, up to `TRIES`
times within `SECONDS`. It waits as long as `Retry-After` asks, else twice as long each time, with jitter, so that the
requests of a crowd do not come back together.
"""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Event
from typing import TYPE_CHECKING, Any

from pytest_puma.errors import EngineError
from pytest_puma.phrases import one_line
from pytest_puma.platform.installation import install_extra

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse

#: Statuses of a server that is busy, restarts or lost its own server; 529 is "overloaded".
AGAIN = frozenset({408, 409, 425, 429, *range(500, 600)} - {501, 505})
#: Ends of a reply that a gateway lost: OpenRouter, z.AI, DeepSeek.
_LOST = frozenset({"error", "network_error", "insufficient_system_resource"})
TRIES = 8
#: Seconds of a whole request with all its tries, of a connection, and of the first pause.
SECONDS, CONNECT, PAUSE = 600.0, 10.0, 0.5
_LONGEST_PAUSE = 30.0
#: Characters of a server's message that an error shows.
_SHOWN = 300
_PIECE = 65_536


class ServerError(EngineError):
    """A request that a server did not answer; `status`: that of HTTP, 0 without a connection."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class _FailedError(Exception):
    """A try without an answer. `again`: another one may have it; `wait`: the seconds that the server asks for."""

    def __init__(self, reason: str, status: int = 0, *, again: bool = True, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.reason, self.status, self.again, self.wait = reason, status, again, wait


@dataclass(slots=True)
class _Secret:
    """An API key, which no representation shows."""

    key: str = field(default="", repr=False)

    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    def hidden(self, text: str) -> str:
        """The text without the key: servers quote what they refuse."""
        return text.replace(self.key, "...") if self.key else text


class Client:
    """The client of the server at `url`; several threads may ask at once. `again` counts the tries that failed."""

    def __init__(
        self, url: str, *, key: str = "", parallel: int = 1, seconds: float = SECONDS, pause: float = PAUSE
    ) -> None:
        try:
            import urllib3
        except ImportError as error:
            msg = f"a server as a model needs the package urllib3; install it with: {install_extra('server')}"
            raise EngineError(msg) from error
        if not (key.isascii() and key.isprintable()) or " " in key:
            msg = "the API key has a character that no header can have; expected the key alone in its variable"
            raise EngineError(msg)
        self._url, self._secret, self._seconds, self._pause = url, _Secret(key), seconds, pause
        self._pool = urllib3.PoolManager(maxsize=parallel)
        self._random = random.Random()  # noqa: S311 - when to ask again, which changes no answer
        self.again: Counter[str] = Counter()

    def ask(
        self, path: str, body: Mapping[str, Any] | None = None, *, stopped: Event | None = None, patient: bool = True
    ) -> Any:
        """Return the answer to a POST of the body, or to a GET without one; `path` is relative to the URL, or a URL.

        Without `patient`, a server that cannot be reached is not tried again. A `ServerError` if there is no answer,
        or if the caller has `stopped` all requests.
        """
        url = path if "://" in path else f"{self._url}{path}"
        stopped, end = stopped or Event(), time.monotonic() + self._seconds
        attempt = 0
        while not stopped.is_set():
            attempt += 1
            try:
                return self._try(url, body, end)
            except _FailedError as failed:
                pause = failed.wait or min(_LONGEST_PAUSE, self._pause * 2 ** (attempt - 1)) * self._random.uniform(
                    1, 1.5
                )
                if not failed.again or attempt == TRIES or not (patient or failed.status):
                    break_off = f" ({attempt} tries)" if attempt > 1 else ""
                elif time.monotonic() + pause > end:
                    break_off = f"; the next try would be {pause:.0f} s later, past the limit of {self._seconds:.0f} s"
                else:
                    self.again[failed.reason] += 1
                    stopped.wait(pause)
                    continue
                msg = f"{url}: {failed.reason}{break_off}"
                raise ServerError(msg, failed.status) from None
        msg = f"{url}: not asked any more, as another request failed"
        raise ServerError(msg)

    def close(self) -> None:
        """Close the idle connections."""
        self._pool.clear()

    def _try(self, url: str, body: Mapping[str, Any] | None, end: float) -> Any:
        """Send a request once."""
        import urllib3

        left = max(0.1, end - time.monotonic())
        try:
            response = self._pool.request(
                "GET" if body is None else "POST",
                url,
                body=None if body is None else json.dumps(body),
                headers={"Content-Type": "application/json", **self._secret.headers()},
                # A redirect would take the key to another host.
                redirect=False,
                retries=False,
                preload_content=False,
                timeout=urllib3.Timeout(connect=min(CONNECT, left), read=left),
            )
            data = self._read(response, end)
        except urllib3.exceptions.ReadTimeoutError:
            raise self._late() from None
        except urllib3.exceptions.HTTPError as error:
            raise _FailedError(self._secret.hidden(_lost(error))) from None
        return self._answer(response, data)

    def _read(self, response: BaseHTTPResponse, end: float) -> bytes:
        """The body of a response, which may drip for longer than any pause between two of its bytes."""
        data = bytearray()
        while piece := response.read1(_PIECE):
            data += piece
            if time.monotonic() > end:
                response.close()
                raise self._late()
        response.release_conn()
        return bytes(data)

    def _late(self) -> _FailedError:
        return _FailedError(f"no whole answer within {self._seconds:.0f} s; send fewer requests at once", again=False)

    def _answer(self, response: BaseHTTPResponse, data: bytes) -> Any:
        """The JSON of a response; some servers put an error into one of status 200."""
        try:
            content = json.loads(data)
        except ValueError:
            content = None
        status = response.status
        if status == HTTPStatus.OK and (error := _inner_error(content)):
            content = {"error": error}
            code = error.get("code") if isinstance(error, dict) else None
            status = code if isinstance(code, int) else HTTPStatus.INTERNAL_SERVER_ERROR
        if status == HTTPStatus.OK:
            if content is None:
                reason = (
                    f"the answer is no JSON: {one_line(self._secret.hidden(data.decode(errors='replace')), _SHOWN)!r}"
                )
                raise _FailedError(reason)
            return content
        message = _message(content) or data.decode(errors="replace")
        moved = response.headers.get("Location", "")
        shown = f"it points to {moved}, which is not followed; give that URL" if moved else message
        reason = f"HTTP status {status}: {one_line(self._secret.hidden(shown), _SHOWN)}"
        raise _FailedError(
            reason, status, again=status in AGAIN, wait=_retry_after(response.headers.get("Retry-After"))
        )


def _lost(error: Exception) -> str:
    """The reason for which a connection was not made, or was lost."""
    cause = next((part for part in error.args if isinstance(part, Exception)), error)
    if "IncompleteRead" in type(cause).__name__ or "InvalidChunkLength" in type(cause).__name__:
        return "the connection ended in the middle of an answer"  # the numbers of bytes differ each time
    return f"no connection: {one_line(str(cause).rpartition('): ')[2], _SHOWN)}"


def _inner_error(content: Any) -> Any:
    """The error in an answer of status 200: its own, or that of a reply which a gateway lost on its way."""
    if not isinstance(content, dict):
        return None
    choices = content.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    reason = choice.get("finish_reason")
    lost = f"the reply ended with finish_reason {reason!r}" if reason in _LOST else None
    return content.get("error") or choice.get("error") or lost


def _message(content: Any) -> str:
    """The message of an error: OpenAI's form, Ollama's, that of vLLM's first versions, and FastAPI's."""
    if not isinstance(content, dict):
        return ""
    error = content.get("error") or content
    if isinstance(error, dict):
        error = error.get("message") or error.get("detail") or error
    return error if isinstance(error, str) else json.dumps(error)


def _retry_after(text: str | None) -> float:
    """The seconds that a server asks to wait, as a number or as a date; 0 if it does not."""
    import urllib3

    try:
        return urllib3.Retry().parse_retry_after(text) if text else 0.0
    except urllib3.exceptions.HTTPError:
        return 0.0
