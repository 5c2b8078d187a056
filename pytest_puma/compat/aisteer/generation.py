"""The call of `generate()` that asks the model, seen twice: it states all prompts, and later it receives the replies.

`generate()` is code of the user that builds prompts, calls `batch_retry_generate`, and makes generations of what this
returns. It runs once until the call, which ends it by an exception that has the prompts. A cell asks them, as those of
any scenario. Then it runs again, with the same random numbers, and the call returns the replies.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn

from pytest_puma.core import DataError


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """The arguments of `batch_retry_generate` that matter here; `prompts`: its `prompt_data`."""

    prompts: Sequence[Mapping[str, Any]]
    parse: Callable[[str], Any] | None
    overrides: Mapping[str, Mapping[str, str]]

    def value(self, reply: str | None) -> Any:
        """Return what `generate()` receives for a reply, None for one that was not read."""
        if self.parse is None:
            return reply or ""
        return None if reply is None else self.parse(reply)


class Called(BaseException):
    """The end of a `generate()` that only has to state its prompts; no handler of the user may catch it."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call


class ModelProxy:
    """What `generate()` receives as model and as tokenizer; `call`: the first one; `replies` to its prompts."""

    def __init__(self, call: Call | None = None, replies: Sequence[str | None] = ()) -> None:
        self._call, self._replies = call, replies

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse everything that a model or tokenizer of transformers could do."""
        msg = f"generate() uses {name!r} of its model or tokenizer; expected batch_retry_generate(...) with all prompts"
        raise DataError(msg)

    def answer(self, call: Call) -> list[str | None]:
        """Return the replies. Raises `Called` if there are none yet, and a `DataError` if the prompts changed."""
        if self._call is None:
            raise Called(call)
        if call.prompts != self._call.prompts:
            msg = (
                "generate() made other prompts when it ran again; expected the same: random numbers of the module "
                "random or of numpy.random alone, which are seeded, and one call of batch_retry_generate"
            )
            raise DataError(msg)
        return list(self._replies)


def batch_retry_generate(  # noqa: PLR0917 - the signature of AISteer360
    prompt_data: Sequence[Mapping[str, Any]],
    model_or_pipeline: ModelProxy,
    tokenizer: object = None,  # noqa: ARG001 - the engine has its own
    gen_kwargs: Mapping[str, Any] | None = None,
    runtime_overrides: Mapping[str, Mapping[str, str]] | None = None,
    evaluation_data: object = None,  # noqa: ARG001 - the use case has it
    parse_fn: Callable[[str], Any] | None = None,
    return_raw: bool = False,  # noqa: FBT001, FBT002
    batch_size: object = None,  # noqa: ARG001 - all prompts are one batch
) -> Any:
    """Return the parsed reply to each prompt, or the replies without `parse_fn`; with `return_raw`, both.

    `prompt_data`: dictionaries with `prompt`, a text or a list of messages, and with the `id` of a row.
    """
    if gen_kwargs:
        msg = f"generate() sets gen_kwargs {dict(gen_kwargs)}; expected none: the marker has max_tokens="
        raise DataError(msg)
    prompts = [dict(prompt) for prompt in prompt_data]
    call = Call(prompts=prompts, parse=parse_fn, overrides=runtime_overrides or {})
    replies = model_or_pipeline.answer(call)
    values = list(map(call.value, replies))
    return (values, [reply or "" for reply in replies]) if return_raw else values


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Seed the global random numbers within the block, as `generate()` may shuffle by them."""
    import numpy as np

    states = random.getstate(), np.random.get_state()  # noqa: NPY002 - the global one is what users call
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002
    try:
        yield
    finally:
        random.setstate(states[0])
        np.random.set_state(states[1])  # noqa: NPY002
