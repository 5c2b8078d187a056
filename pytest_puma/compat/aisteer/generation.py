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

    def read(self, text: str) -> str | None:
        """Return what `parse_fn` makes of a reply. Raises a `DataError` for anything but a text or None."""
        value = text if self.parse is None else self.parse(text)
        if value is not None and not isinstance(value, str):
            msg = f"parse_fn returned {value!r}; expected a text, or None for a reply that it cannot read"
            raise DataError(msg)
        return value


class Called(BaseException):
    """The end of a `generate()` that only has to state its prompts; no handler of the user may catch it."""

    def __init__(self, call: Call) -> None:
        super().__init__()
        self.call = call


class ModelProxy:
    """What `generate()` receives as model and as tokenizer; `call`: the first one; `answers` to its prompts."""

    def __init__(self, call: Call | None = None, answers: Sequence[str | None] = ()) -> None:
        self._call, self._answers = call, answers

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse everything that a model or tokenizer of transformers could do."""
        msg = f"generate() uses {name!r} of its model or tokenizer; expected batch_retry_generate(...) with all prompts"
        raise DataError(msg)

    def answer(self, call: Call) -> list[str | None]:
        """Return the answers as `parse_fn` read them; without it, an empty text for none.

        Raises `Called` if there are none yet, and a `DataError` if the prompts changed.
        """
        if self._call is None:
            raise Called(call)
        if call.prompts != self._call.prompts:
            msg = (
                "generate() made other prompts when it ran again; expected the same: random numbers of the module "
                "random or of numpy.random alone, which are seeded, and one call of batch_retry_generate"
            )
            raise DataError(msg)
        return list(self._answers) if call.parse else [answer or "" for answer in self._answers]


def batch_retry_generate(  # noqa: PLR0917 - the signature of AISteer360
    prompt_data: Sequence[Mapping[str, Any]],
    model_or_pipeline: ModelProxy,
    tokenizer: object = None,  # noqa: ARG001 - the engine has its own
    gen_kwargs: Mapping[str, Any] | None = None,
    runtime_overrides: Mapping[str, Mapping[str, str]] | None = None,
    evaluation_data: object = None,  # noqa: ARG001 - the use case has it
    parse_fn: Callable[[str], Any] | None = None,
    max_retries: int = 2,  # noqa: ARG001 - `retries=` of the marker
    batch_size: object = None,  # noqa: ARG001 - all prompts are one batch
) -> list[Any]:
    """Return the parsed reply to each prompt, or the replies without `parse_fn`.

    `prompt_data`: dictionaries with `prompt`, a text or a list of messages, and with the `id` of a row. Retries of the
    marker ask a prompt again whose reply `parse_fn` makes None.
    """
    if gen_kwargs:
        msg = f"generate() sets gen_kwargs {dict(gen_kwargs)}; expected none: the marker has max_tokens="
        raise DataError(msg)
    prompts = [dict(prompt) for prompt in prompt_data]
    return model_or_pipeline.answer(Call(prompts=prompts, parse=parse_fn, overrides=runtime_overrides or {}))


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
