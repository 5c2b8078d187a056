"""The options of a model's loading as llama.cpp's parameters: where each of its parts goes."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import llama_cpp

from pytest_puma.core import EngineError, Model, ModelError, ModelOptions
from pytest_puma.engine.fit import Fit, used
from pytest_puma.engine.machine import Gpu
from pytest_puma.engine.native import binding
from pytest_puma.engine.native.build import call, gpu_devices, gpus, offloads
from pytest_puma.engine.native.rpc import check_servers, server_devices, servers
from pytest_puma.models.header import MAX_LAYERS
from pytest_puma.models.layers import EXPERTS, ModelLayers
from pytest_puma.platform.installation import install

#: llama.cpp's messages where a device has too little memory, in the words of CUDA, Vulkan, Metal and SYCL.
_NO_MEMORY = re.compile(
    r"out ?of ?(device ?)?memory|(unable|failed) to allocate|can't allocate|memory allocation", re.IGNORECASE
)

#: Its messages about one buffer, and the names of buffers in the memory of the machine, such as `CUDA_Host`.
_BUFFER = re.compile(r"allocate (\S+) buffer\b")
_ON_HOST = re.compile(r"CPU|_Host$")


class _Override(ctypes.Structure):
    """`llama_model_tensor_buft_override`: a pattern of names, and the kind of memory for tensors with such a name."""

    _fields_ = (("pattern", ctypes.c_char_p), ("memory", ctypes.c_void_p))


def loaded_here(model: Model, own: int | None = None) -> tuple[Any, Model, Fit | None]:
    """Load a model; return llama.cpp's pointer, the model with its number of layers, and how it fits on the GPUs here.

    `own`: the GPU of this process, None for all. Of `auto`, a second attempt has a tenth fewer layers. An `EngineError`
    if llama.cpp refuses the file or an option, or has too little memory.
    """
    check_servers(model)
    if is_offloaded(model.options):
        check_gpus(model, [*servers(model.options), *gpus()])
    fit = fit_here(model, own)
    placed = with_layers(model, fit)
    try:
        return binding.loaded(placed, loading_params(placed.options, own=own)), placed, fit
    except EngineError as error:
        explained = out_of_memory(error, placed, fit)
        if explained is error or fit is None or model.options.gpu_layers != "auto":
            raise explained from None
    placed = with_layers(model, fit, fit.fewer())
    try:
        return binding.loaded(placed, loading_params(placed.options, own=own)), placed, fit
    except EngineError as error:
        raise out_of_memory(error, placed, fit) from None


def is_offloaded(options: ModelOptions) -> bool:
    """Whether layers of a model go to GPUs of this machine, or to servers."""
    return options.gpu_layers != 0 and (options.rpc is not None or offloads())


def fit_here(model: Model, own: int | None = None) -> Fit | None:
    """Return how a model fits on the servers and GPUs that it uses, `own` the GPU of this process; None without any.

    None also for a file whose header cannot be read, which llama.cpp refuses.
    """
    options = model.options
    found = used(options, [*servers(options), *gpus()], own) if options.gpu_layers else []
    if not found:
        return None
    try:
        return Fit.on(model, ModelLayers.of(model.path), found)
    except ModelError:
        return None


def with_layers(model: Model, fit: Fit | None, layers: int | None = None) -> Model:
    """Return a model with a number of layers in place of `auto`: `layers`, or by default as many as fit.

    All, if all fit or the free memory is unknown, none without a GPU. Without layers, no option places them.
    """
    if model.options.gpu_layers != "auto":
        return model
    if layers is None:
        layers = (-1 if is_offloaded(model.options) else 0) if fit is None else -1 if fit.whole else fit.layers
    options = model.options
    if layers == 0:
        options = replace(options, split=None, share=None, gpu=None, cpu_moe=None, rpc=None)
    return replace(model, options=replace(options, gpu_layers=layers))


def loading_params(options: ModelOptions, *, own: int | None = None) -> Any:
    """Return the parameters of loading on the GPUs that the options specify, else on the `own` one of this process.

    They keep the arrays alive that they point to. An `EngineError` if the library lacks an option.
    """
    params = llama_cpp.llama_model_default_params()
    params.n_gpu_layers = options.gpu_layers
    params.use_extra_bufts = not binding.has_amx()
    if options.mlock or not options.mmap:
        mode = "_".join([*["MMAP"] * options.mmap, *["MLOCK"] * options.mlock]) or "NONE"
        _set(params, load_mode=getattr(llama_cpp, f"LLAMA_LOAD_MODE_{mode}"))
    if options.gpu_layers == 0:
        use_no_gpu(params)
    if not is_offloaded(options):
        return params
    if options.rpc is not None:
        _use_devices(params, [*server_devices(options), *gpu_devices()])
    if options.chooses_gpus:
        split = options.split or ("layer" if options.gpu is None else "none")
        _set(params, split_mode=getattr(llama_cpp, f"LLAMA_SPLIT_MODE_{split.upper()}"), main_gpu=options.gpu or 0)
    elif own is not None:
        _set(params, split_mode=llama_cpp.LLAMA_SPLIT_MODE_NONE, main_gpu=own)
    if options.shares:
        array = (ctypes.c_float * llama_cpp.llama_max_devices())(*options.shares)
        _set(params, tensor_split=array)
    if options.cpu_moe is not None:
        keep_experts(params, options.experts_on_cpu(MAX_LAYERS))
    return params


def use_no_gpu(params: Any) -> None:
    """Compute on the CPU alone, and start no GPU.

    Without any layer on a GPU, llama.cpp would still compute large batches there.
    """
    _use_devices(params, [])


def _use_devices(params: Any, devices: Sequence[int]) -> None:
    """Compute on these devices beside the CPU; llama.cpp's list of them ends with NULL."""
    params.kept_devices = (ctypes.c_void_p * (len(devices) + 1))(*devices)
    _set(params, devices=ctypes.cast(params.kept_devices, ctypes.c_void_p))


def keep_experts(params: Any, layers: int) -> None:
    """Let the experts of the first `layers` stay on the CPU."""
    numbers = "" if layers == MAX_LAYERS else rf"blk\.({'|'.join(map(str, range(layers)))})"
    cpu = call("ggml_backend_cpu_buffer_type", ctypes.c_void_p)
    overrides = (_Override * 2)(_Override(f"{numbers}{EXPERTS}".encode(), cpu), _Override())
    _set(params, tensor_buft_overrides=ctypes.cast(overrides, ctypes.c_void_p))
    params.kept = overrides


def _set(params: Any, **values: Any) -> None:
    """Set fields; an `EngineError` if the library lacks one, which ctypes would accept in silence."""
    fields = {name for name, *_ in params._fields_}
    binding.require([], lacking=[name for name in values if name not in fields])
    for name, value in values.items():
        setattr(params, name, value)


def out_of_memory(error: EngineError, model: Model, fit: Fit | None) -> EngineError:
    """Return an error that names the number of layers that would fit, if memory is the reason of an error."""
    buffers = _BUFFER.findall(str(error))
    if fit is None or not _NO_MEMORY.search(str(error)) or (buffers and all(map(_ON_HOST.search, buffers))):
        return error
    requested = model.options.gpu_layers
    on_gpu = requested if isinstance(requested, int) and 0 < requested < fit.of else fit.of
    layers = fit.layers if fit.layers < on_gpu else on_gpu - max(1, on_gpu // 10)
    return EngineError(
        f"{model.name}: the memory of the GPU is too small for {on_gpu} of {fit.of} layers: {fit.sentence()}; expected "
        f"about gpu_layers={layers} (auto takes as many as fit), n_ctx= for a smaller cache, or cpu_moe= for a "
        f"mixture of experts ({error})"
    )


def check_gpus(model: Model, found: Sequence[Gpu]) -> None:
    """Refuse GPUs that are not there, with an `EngineError`; llama.cpp ignores shares of them."""
    options, count = model.options, max(1, len(found))
    names = f"found {count}: {', '.join(gpu.name for gpu in found)}"
    if options.gpu is not None and options.gpu >= count:
        msg = f"{model.name}: gpu={options.gpu}, and they are counted from 0; {names}"
        raise EngineError(msg)
    if len(options.shares) > count:
        msg = f"{model.name}: share={options.share} is for {len(options.shares)} GPUs; {names}"
        raise EngineError(msg)


def useless_options(options: ModelOptions) -> Iterator[str]:
    """Yield a warning if something is requested of a GPU and there is none."""
    plain = ModelOptions()
    values = {name: getattr(options, name) for name in ("gpu_layers", "split", "share", "gpu", "cpu_moe")}
    requested = [f"{name}={value}" for name, value in values.items() if value != getattr(plain, name)]
    if requested and options.gpu_layers and not is_offloaded(options):
        settings = ", ".join(requested)
        command = install("--force-reinstall --no-cache-dir llama-cpp-python")
        yield (
            f"{settings} {'has' if len(requested) == 1 else 'have'} no effect: this llama.cpp is built without a GPU, "
            f"or finds none; build it for one, as in CMAKE_ARGS=-DGGML_CUDA=on {command}"
        )
