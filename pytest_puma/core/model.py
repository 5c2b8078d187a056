"""A model under test, and how it is loaded and run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from pytest_puma.core.variant import PLUS, Variant, plain_name
from pytest_puma.errors import SettingsError, check_limits
from pytest_puma.platform.files import Stamps

#: What answers: weights to compute with, a file of answers, the predictions of an earlier run, the response store, a
#: server, or weights on the workers of a cluster.
ModelSource: TypeAlias = Literal["weights", "answers", "run", "store", "server", "cluster"]
#: Limits: of llama.cpp for sequences, beyond any machine for the others. Larger numbers would wrap around in C.
MAX_SEQUENCES, MAX_KV_SLOTS, MAX_LAYERS, MAX_THREADS = 64, 2**27, 2**15, 2**12
#: As many layers on the GPU as fit.
Auto: TypeAlias = Literal["auto"]
#: How several GPUs share a model: by layers, by rows of matrices, by parts of tensors; or one has all of it.
Split: TypeAlias = Literal["layer", "row", "tensor", "none"]
#: Tokens of one pass through the graph.
MIN_UBATCH, MAX_UBATCH = 128, 8192
#: That llama.cpp uses for one model.
MAX_GPUS = 16
#: Experts of all layers.
ALL = "all"
#: RPC servers of one model, each of which has a device; llama.cpp accepts names and IPv4 addresses.
MAX_SERVERS, _MAX_PORT = MAX_GPUS, 65535
_SERVER = re.compile(r"[\w.-]+:(\d{1,5})", re.ASCII)
_SHARE = re.compile(r"\d{1,9}(?:\.\d{1,9})?(?::\d{1,9}(?:\.\d{1,9})?){1,15}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Options for loading and running a model; `None` leaves the choice to the engine.

    `n_ctx`: cache cells, in tokens; `gpu_layers`: -1 is all; `parallel`: sequences decoded
    together; `thinking`: whether a reasoning model may think before it answers; `reasoning_effort`: a word for how
    much, as the model's chat template knows it; `strict`: every request is computed alone and in one order, so that
    neither other samples nor the number of threads change an answer; `chat`: off for a base model, which gets prompts
    as plain text without its chat template.

    On several GPUs, `split` specifies how they share the model, `share` their parts, as in `3:1`, and `gpu` the number
    of the only one. `cpu_moe`: the number of layers, from the first on, whose experts stay on the CPU, or `all`.
    `rpc`: the addresses of llama.cpp's RPC servers, whose devices come before the GPUs, as in `host:50052+other:50052`.
    `ubatch`: tokens of one pass through the graph. `mmap`: whether the weights are mapped from the file; `mlock`: they
    are never swapped out.
    """

    n_ctx: int | None = None
    gpu_layers: int | Auto = -1
    threads: int | None = None
    parallel: int | None = None
    thinking: bool = False
    reasoning_effort: str | None = None
    strict: bool = False
    chat: bool = True
    split: str | None = None
    share: str | None = None
    gpu: int | None = None
    cpu_moe: str | None = None
    rpc: str | None = None
    ubatch: int | None = None
    mlock: bool = False
    mmap: bool = True

    def __post_init__(self) -> None:
        """Refuse what llama.cpp would abort on, and what contradicts itself."""
        if problem := next(self._problems_on_gpus(), None):
            raise SettingsError(problem)
        if self.strict and self.parallel not in {None, 1}:
            msg = f"parallel is {self.parallel} where strict asks for one request at a time; expected one of the two"
            raise SettingsError(msg)
        effort = self.reasoning_effort
        if effort is not None and not effort.replace("_", "").isalnum():
            msg = f"reasoning_effort is {effort!r}; expected a word, such as low, medium or high"
            raise SettingsError(msg)
        check_limits(
            {
                "n_ctx": (self.n_ctx, 1, MAX_KV_SLOTS),
                "gpu_layers": (None if self.gpu_layers == "auto" else self.gpu_layers, -1, MAX_LAYERS),
                "threads": (self.threads, 1, MAX_THREADS),
                "parallel": (self.parallel, 1, MAX_SEQUENCES),
                "gpu": (self.gpu, 0, MAX_GPUS - 1),
                "ubatch": (self.ubatch, MIN_UBATCH, MAX_UBATCH),
            }
        )

    def _problems_on_gpus(self) -> Iterator[str]:
        """Yield values that are none, and those that contradict each other."""
        if self.split is not None and self.split not in get_args(Split):
            yield f"split is {self.split!r}; expected one of {', '.join(get_args(Split))}"
        if self.share is not None and not (_SHARE.fullmatch(self.share) and any(self.shares)):
            yield f"share is {self.share!r}; expected a part for each of 2 to {MAX_GPUS} GPUs, as in 3:1"
        if self.cpu_moe not in {None, ALL} and not re.fullmatch(r"0*[1-9]\d{0,4}", self.cpu_moe or ""):
            yield f"cpu_moe is {self.cpu_moe!r}; expected a number of layers from 1 on, or {ALL}"
        if self.gpu is not None and self.split not in {None, "none"}:
            yield f"gpu is {self.gpu} where split={self.split} uses several; expected one of the two"
        if self.gpu_layers == 0 and (self.chooses_gpus or self.cpu_moe or self.rpc):
            others = "split, share, gpu, cpu_moe or rpc"
            yield f"gpu_layers is 0 where other options place layers on GPUs; expected no {others}"
        if self.share is not None and (self.gpu is not None or self.split == "none"):
            yield f"share is {self.share} where one GPU has all; expected neither gpu= nor split=none with it"
        if self.rpc is not None:
            yield from self._problems_of_servers(self.rpc)

    def _problems_of_servers(self, rpc: str) -> Iterator[str]:
        """Yield addresses that are none, and what servers cannot do."""
        ports = [_SERVER.fullmatch(address) for address in self.servers]
        if len(ports) > MAX_SERVERS or not all(port and 0 < int(port[1]) <= _MAX_PORT for port in ports):
            yield f"rpc is {rpc!r}; expected 1 to {MAX_SERVERS} RPC servers, as in host:50052+10.0.0.3:50052"
        if len(set(self.servers)) < len(ports):
            yield f"rpc is {rpc!r}, with a server twice; expected each once: llama.cpp uses all devices of a server"
        if self.split in {"row", "tensor"}:
            yield f"split is {self.split} where rpc= has servers, which share a model by layers; expected split=layer"

    @property
    def shares(self) -> tuple[float, ...]:
        """The parts of the GPUs, none if they follow from their free memory."""
        return () if self.share is None else tuple(map(float, self.share.split(":")))

    @property
    def servers(self) -> tuple[str, ...]:
        """The addresses of the RPC servers."""
        return () if self.rpc is None else tuple(self.rpc.split("+"))

    @property
    def chooses_gpus(self) -> bool:
        """Whether it specifies the GPUs, so that a worker is not given one of them."""
        return (self.split, self.share, self.gpu) != (None, None, None)

    def experts_on_cpu(self, layers: int) -> int:
        """Return the number of layers, from the first on, whose experts stay on the CPU, for a model of `layers`."""
        return layers if self.cpu_moe == ALL else min(layers, int(self.cpu_moe or 0))

    @property
    def signature(self) -> dict[str, str]:
        """The options of this list that could change an answer, where they are set; `gpu` is whether there is one.

        Servers are not among them: an engine knows what they offer.
        """
        named = {name: getattr(self, name) for name in ("split", "share", "cpu_moe", "ubatch")}
        named["main_gpu"] = self.gpu
        return {name: str(value) for name, value in named.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An OpenAI-compatible server: its URL up to `/v1`, and the id of the `model` there.

    `key`: the environment variable with the API key, empty for none; `parallel`: the maximum of requests at once.
    """

    url: str
    model: str
    key: str = ""
    parallel: int = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """A file, or a server, under the name that ids, gates and baselines use.

    `source`: what answers; weights are a GGUF file. `keys`: for a file of answers in another format, the key of a line
    for each of ours. `weights`: the digest of the weights, for a model whose file is the store, or on a cluster, where
    each worker has a file of its own: `path` is the place that it looks up.
    `endpoint`: the server, which has no file. `variant`: what is put on the weights, None for nothing; its name is part
    of `name`. Of weights that are yet to be made, `path` is the file that they are made of. `stamps`: the state of the
    files when they were checked; without them, any state is accepted.
    """

    name: str
    path: Path
    options: ModelOptions = field(default_factory=ModelOptions)
    source: ModelSource = "weights"
    endpoint: Endpoint | None = None
    keys: tuple[tuple[str, str], ...] = ()
    weights: str = ""
    variant: Variant | None = None
    stamps: Stamps = field(default=(), compare=False, repr=False)

    @property
    def size(self) -> int:
        """The bytes of the files when they were checked, 0 without weights."""
        return sum(stamp.size for stamp in self.stamps)

    @property
    def plain(self) -> Model:
        """The model without its variant."""
        return replace(self, name=plain_name(self.name), variant=None)

    @property
    def loaded(self) -> Model:
        """The model whose weights are loaded once for all variants that share them: plain, or quantised."""
        if self.variant is None or not self.computes:
            return self
        return replace(self, name=self.weights_name, variant=self.variant.weights)

    @property
    def weights_name(self) -> str:
        """The name of the model with these weights and nothing on them: `q+Q4_K_M` for `q+Q4_K_M+polite-1`."""
        weights = None if self.variant is None else self.variant.weights
        return plain_name(self.name) + ("" if weights is None else f"{PLUS}{weights.name}")

    @property
    def computes(self) -> bool:
        """Whether its answers are computed in this process."""
        return self.source == "weights"

    @property
    def is_read(self) -> bool:
        """Whether its answers exist already."""
        return self.source in {"answers", "run", "store"}
