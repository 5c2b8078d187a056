"""The program that `smoke_test` runs: it renders a model's chat template, loads the model and decodes two tokens.

Its argument is a list in JSON: the model's file, or that with the kind, the scope and the file of a control, with which
it decodes then.

The first rendering has limits of time and memory: a template is a program. Other errors of pytest-puma are left to the
process that started this one, which meets them again.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

#: Tokens in the cache: more than those of the prompt.
_TOKENS = 256
#: Bytes of weights from which on all cores compute. Beside busy processes, threads wait for each other: with a model of
#: 270M, two took 2.4 s where one took 1.2 s.
_LARGE = 2 << 30
#: Processor seconds and bytes for the vocabulary and the template. The largest vocabulary takes a second.
TEMPLATE_SECONDS, _TEMPLATE_BYTES = 10, 1 << 30
#: The exit status after a template that cannot be used.
REFUSED = 3


def learn(path: Path) -> None:
    """Render the chat template for the first time; a `ChatTemplateError` if it cannot be used."""
    from pytest_puma.core import Model, ModelOptions
    from pytest_puma.engine.native.text import DryBackend

    # The driver of a GPU needs more memory than the limit.
    model = Model(name="it", path=path, options=ModelOptions(gpu_layers=0))
    with _limited():
        DryBackend(model, context_limit=_TOKENS).close()


@contextmanager
def _limited() -> Iterator[None]:
    """Limit the memory, and end the process by a signal when the time is over, also inside a call of C."""
    try:
        import resource
    except ImportError:  # no such limits on Windows
        yield
        return
    import psutil

    before = resource.getrlimit(resource.RLIMIT_AS)
    limit = psutil.Process().memory_info().vms + _TEMPLATE_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (limit, before[1]))
    signal.setitimer(signal.ITIMER_VIRTUAL, TEMPLATE_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        resource.setrlimit(resource.RLIMIT_AS, before)


def use(path: Path, *control: str, threads: int) -> None:
    """Load the model and decode with it on the CPU, and with a control if there is one; a `PumaError` if that fails."""
    from pytest_puma.core import Control, Generate, Message, Model, ModelOptions, Prompt, Score, Variant
    from pytest_puma.engine.engine import Engine
    from pytest_puma.engine.native.backend import NativeBackend

    options = ModelOptions(n_ctx=_TOKENS, parallel=2, gpu_layers=0)
    prompt = Prompt(messages=(Message(role="user", content="The first words"),), chat=False)
    variant = None
    if control:
        kind, scope, file = cast("tuple[Any, Any, str]", control)
        variant = Variant(controls=(Control(kind=kind, scope=scope, name="it", path=Path(file)),))
    model = Model(name="it", path=path, options=options, variant=variant)
    with closing(Engine(NativeBackend(model, threads=threads))) as engine:
        engine.run([Generate(prompt=prompt, max_tokens=2), Score(prompt=prompt, continuations=("yes", "no"))])


if __name__ == "__main__":
    sys.path[:] = sys.argv[2:]
    from pytest_puma.core import PumaError
    from pytest_puma.engine.chat import ChatTemplateError
    from pytest_puma.engine.machine import cores
    from pytest_puma.models.weights import stamps_of

    file, *control = json.loads(sys.argv[1])
    weights = Path(file)
    try:
        if not control:
            learn(weights)
        size = sum(stamp.size for stamp in stamps_of(weights))
        use(weights, *control, threads=cores() if size > _LARGE else 1)
    except ChatTemplateError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(REFUSED)
    except PumaError:
        pass
