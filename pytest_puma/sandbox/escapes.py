"""Programs that leave the sandbox if they can. Each one passes if it got out, so none may pass."""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

#: The program that compilers may run.
STARTS = "start a process"


@contextmanager
def escapes() -> Iterator[Mapping[str, str]]:
    """Return five programs by what they do; a file to read and a port to connect to exist as long as the context."""
    with tempfile.TemporaryDirectory() as name, socket.create_server(("127.0.0.1", 0)) as server:
        folder = Path(name)
        (folder / "secret.txt").write_text("secret", encoding="utf-8")
        yield {
            "read a file": f"print(open({str(folder / 'secret.txt')!r}).read())",
            "write a file": f"open({str(folder / 'written.txt')!r}, 'w').write('written')",
            "connect to a server": f"import socket\nsocket.create_connection({server.getsockname()!r}, timeout=3)",
            STARTS: "import os\nchild = os.fork()\nchild or os._exit(0)\nos.waitpid(child, 0)",
            "send a signal to this process": f"import os\nos.kill({os.getpid()}, 0)",
        }
