"""The interface between conversations and whatever answers them: an engine that computes, or a reader of answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, get_args

from pytest_puma.core.backend import Backend
from pytest_puma.core.conversation import Request, Response
from pytest_puma.core.metric import Source
from pytest_puma.core.sample import Origin
from pytest_puma.core.usage import Speed
from pytest_puma.phrases import named

#: What a responder can do: write texts, score continuations, follow a grammar, a bias of tokens, a second prompt to
#: lead away from or a seed, give the logits of each step, and give the same answer again.
Capability: TypeAlias = Literal["generate", "score", "grammar", "bias", "guidance", "seed", "logits", "repeatable"]
#: In the signature of answers of a server, for weights that nobody has seen.
NOT_VERIFIED = "not verified"
_UNKNOWN = "unknown"
ALL_CAPABILITIES: frozenset[Capability] = frozenset(get_args(Capability))


def is_unverified(engine: object) -> bool:
    """Whether nobody has seen the weights of an engine, as a signature has it."""
    return isinstance(engine, Mapping) and engine.get("weights") == NOT_VERIFIED


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """What answers. Responders of one identity give the same answers, but for near-ties.

    `weights`: the digest of the weights, or "unknown", which its signature then says. `signature`: everything that
    could change an answer, as reports show it; `context_limit`: the maximum number of tokens of a request.
    `parallel_streams`: the maximum number of requests in one batch of streams, which tips near-ties only. `notes`:
    sentences about the model.
    """

    weights: str
    signature: Mapping[str, str]
    context_limit: int = 0
    parallel_streams: int = 0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.weights == _UNKNOWN:
            object.__setattr__(self, "signature", {"weights": NOT_VERIFIED, **self.signature})


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShare:
    """Number of responses of a cell, and how many of them were `kept` by the runs named in `runs`.

    `together`: all kept responses of each batch were computed in that batch, so that they are those of one
    uninterrupted run. `batches`: the maximum number of batches that the kept responses of one batch were computed in;
    0 in records of earlier versions.
    """

    responses: int
    kept: int
    together: bool
    batches: int = 0
    runs: tuple[str, ...]

    @classmethod
    def joined(cls, shares: Sequence[StoreShare], *, responses: int) -> StoreShare | None:
        """Return the shares of several responders as one, of all their responses; None without any."""
        if not shares:
            return None
        return cls(
            responses=responses,
            kept=sum(share.kept for share in shares),
            together=all(share.together for share in shares),
            batches=max(share.batches for share in shares),
            runs=tuple(dict.fromkeys(name for share in shares for name in share.runs)),
        )

    @property
    def mixed(self) -> bool:
        """Whether responses of several batches, or of another one, are together: near-ties may differ."""
        return self.kept > 0 and not self.together

    def __str__(self) -> str:
        """The sentence of reports."""
        runs = f"run {named(self.runs, 1)}"
        if self.kept == self.responses:
            where = f", computed in {'another batch' if self.batches == 1 else 'several batches'}" if self.mixed else ""
            answers = "the only answer" if self.kept == 1 else f"all {self.kept:,} answers"
            return f"{answers} kept from {runs}{where}"
        return f"{self.kept:,} of {self.responses:,} answers kept from {runs}; the rest computed without them"


@dataclass(frozen=True, slots=True, kw_only=True)
class Provenance:
    """The source of the answers of a cell.

    `signature`: everything that could change the answers. `notes`: sentences about the model; `warnings`: about the
    answers. `unmeasured`: sources of metrics that these answers lack, each with the reason as a sentence. `kept`: there
    if some answers come from the response store.
    """

    signature: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    unmeasured: Mapping[Source, str] = field(default_factory=dict)
    kept: StoreShare | None = None


class Responder(Protocol):
    """Requests in, responses out. `speed` sums what was computed since the last `begin`."""

    @property
    def identity(self) -> Identity | None:
        """What answers; None if its answers must not be kept."""

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do. A strategy that needs more is not run."""

    @property
    def backend(self) -> Backend | None:
        """The backend that computes; None without `logits`."""

    @property
    def speed(self) -> Speed:
        """Computed tokens and their time."""

    @property
    def kept(self) -> int:
        """Number of responses since the last `begin` that come from the response store in place of the engine."""

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Forget all requests: the next ones belong to this cell.

        `signature`: everything about the cell that could change its answers, except for the responder.
        """

    def submit_all(
        self, requests: Sequence[Request], origins: Sequence[Origin] = (), *, beside: Sequence[Request] = ()
    ) -> list[int]:
        """Queue requests and return a ticket for each. `origins`, one for each, matter to a responder that reads.

        `beside`: requests whose responses are known. They are not answered, but would be in the same batch.
        """

    def step(self) -> dict[int, Response]:
        """Return some responses by ticket; none if no request is open.

        It is called until all are answered, and once more after the last answer, when nothing is open.
        """

    def provenance(self) -> Provenance:
        """Return the source of the responses of this cell."""

    def forget(self) -> None:
        """Forget the cache of prompts between two blocks of a cell: another machine may compute the later one."""

    def reset(self) -> None:
        """Forget all requests, and the cache of their prompts."""

    def close(self) -> None:
        """Free the resources."""


class ForwardingResponder:
    """A responder that does what the `inner` one does; a subclass changes a part of that."""

    def __init__(self, inner: Responder) -> None:
        self._inner = inner

    @property
    def identity(self) -> Identity | None:
        """What answers."""
        return self._inner.identity

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What it can do."""
        return self._inner.capabilities

    @property
    def backend(self) -> Backend | None:
        """The backend that computes."""
        return self._inner.backend

    @property
    def speed(self) -> Speed:
        """Computed tokens and their time."""
        return self._inner.speed

    @property
    def kept(self) -> int:
        """Number of responses from the store."""
        return self._inner.kept

    def begin(self, cell: str, signature: Mapping[str, Any]) -> None:
        """Begin a cell."""
        self._inner.begin(cell, signature)

    def submit_all(
        self, requests: Sequence[Request], origins: Sequence[Origin] = (), *, beside: Sequence[Request] = ()
    ) -> list[int]:
        """Queue the requests."""
        return self._inner.submit_all(requests, origins, beside=beside)

    def step(self) -> dict[int, Response]:
        """Return some responses."""
        return self._inner.step()

    def provenance(self) -> Provenance:
        """Return the source of the responses."""
        return self._inner.provenance()

    def forget(self) -> None:
        """Forget the cache of prompts."""
        self._inner.forget()

    def reset(self) -> None:
        """Forget all requests."""
        self._inner.reset()

    def close(self) -> None:
        """Free the resources."""
        self._inner.close()
