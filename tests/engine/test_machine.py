from pathlib import Path

import pytest

from pytest_puma.core import Model, ModelOptions
from pytest_puma.engine.machine import Gpu, Share, device, share_of, useful_workers

GB = 10**9


def gpus(*free: int) -> list[Gpu]:
    return [Gpu(name="H200", free=each * GB) for each in free]


@pytest.mark.parametrize(
    ("free", "workers"),
    [((), 1), ((80,), 1), ((80, 80, 80), 3), ((80, 5, 80), 2), ((5, 5), 1)],
    ids=["no GPU", "one", "three", "one of three is full", "fits on none"],
)
def test_a_worker_for_each_gpu_that_the_model_fits_on(free: tuple[int, ...], workers: int) -> None:
    assert useful_workers(gpus(*free), largest=14 * GB) == workers


@pytest.mark.parametrize(
    ("workers", "models", "together", "threads"),
    [(2, 1, True, 8), (2, 2, True, 4), (8, 2, True, 4), (2, 1, False, 4), (3, 5, True, 2), (20, 20, True, 1)],
)
def test_on_a_cpu_the_workers_that_compute_share_the_cores(
    workers: int, models: int, *, together: bool, threads: int
) -> None:
    share = share_of(1, workers=workers, models=models, cores=8, gpus=0, together=together)
    assert share == Share(threads=threads, gpu=None)


def test_workers_alternate_between_the_gpus_and_share_the_cores() -> None:
    shares = [share_of(each, workers=4, models=1, cores=8, gpus=2, together=True) for each in range(4)]
    assert shares == [Share(2, 0), Share(2, 1), Share(2, 0), Share(2, 1)]


def test_one_worker_has_all_gpus() -> None:
    assert share_of(0, workers=1, models=1, cores=8, gpus=2, together=True) == Share(8, None)


@pytest.mark.parametrize(
    ("layers", "free", "offloads", "expected"),
    [
        ([-1], (), False, "the CPU"),
        ([0, 0], (80,), True, "the CPU, as gpu_layers=0"),
        ([-1], (), True, "the GPU"),
        ([20], (80,), True, "the GPU (H200)"),
        ([-1, 0], (80, 80), True, "the GPUs (H200, H200), m1 on the CPU as gpu_layers=0"),
    ],
)
def test_the_device_is_named(layers: list[int], free: tuple[int, ...], *, offloads: bool, expected: str) -> None:
    models = [
        Model(name=f"m{number}", path=Path("m.gguf"), options=ModelOptions(gpu_layers=each))
        for number, each in enumerate(layers)
    ]
    assert device(models, gpus(*free), offloads=offloads) == expected
