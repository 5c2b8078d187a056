"""The program that `smoke_test` runs: it loads a model and decodes two tokens.

An error of pytest-puma is left to the process that started it, which meets it again.
"""

from __future__ import annotations

import sys
from contextlib import closing, suppress
from pathlib import Path

#: Tokens in the cache: more than those of the prompt.
_TOKENS = 256
#: Bytes of weights from which on all cores compute. Beside busy processes, threads wait for each other: with a model of
#: 270M, two took 2.4 s where one took 1.2 s.
_LARGE = 2 << 30


def use(path: Path, *, threads: int) -> None:
    """Load the model and decode with it, on the CPU; a `PumaError` if that fails."""
    from pytest_puma.core import Generate, Message, Model, ModelOptions, Prompt, Score
    from pytest_puma.engine.engine import Engine
    from pytest_puma.engine.native.backend import NativeBackend

    options = ModelOptions(n_ctx=_TOKENS, parallel=2, gpu_layers=0)
    prompt = Prompt(messages=(Message(role="user", content="The first words"),), chat=False)
    with closing(Engine(NativeBackend(Model(name="it", path=path, options=options), threads=threads))) as engine:
        engine.run([Generate(prompt=prompt, max_tokens=2), Score(prompt=prompt, continuations=("yes", "no"))])


if __name__ == "__main__":
    sys.path[:] = sys.argv[2:]
    from pytest_puma.core import PumaError
    from pytest_puma.engine.cores import cores
    from pytest_puma.models import stamps_of

    with suppress(PumaError):
        weights = Path(sys.argv[1])
        size = sum(stamp.size for stamp in stamps_of(weights))
        use(weights, threads=cores() if size > _LARGE else 1)
