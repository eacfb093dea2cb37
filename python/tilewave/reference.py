"""The same network on this machine, to compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tilewave import _core
from tilewave.datasets import Images, pixels_of
from tilewave.quantization import QuantizedGraph

_PRECISIONS = {"cpu": ("fp32", "int8"), "gpu": ("fp32", "tf32", "fp16", "int8")}


@dataclass(frozen=True, eq=False)
class Reference:
    """What a native run gave.

    Attributes
    ----------
    name : str
        Device, precision, and the library that did the matrix products.
    real : ndarray of float32
        [images, outputs], before a final Softmax; of an integer path, what its integers stand for.
    integers : ndarray of int16 or None
        [images, outputs] of an integer path: the simulated chip's outputs, bit for bit.
    seconds : float
        Wall time of the run, without preparing it.
    """

    name: str
    real: npt.NDArray[np.float32]
    integers: npt.NDArray[np.int16] | None
    seconds: float

    @property
    def classes(self) -> npt.NDArray[np.int64]:
        """[images], the index of an image's largest output, the first of equals."""
        values = self.real if self.integers is None else self.integers
        classes: npt.NDArray[np.int64] = values.argmax(axis=1)
        return classes

    def __repr__(self) -> str:
        images, outputs = self.real.shape
        return f"Reference({self.name}: {images:,} images, {outputs} outputs, {self.seconds:.4g} s)"


def reference(
    quantized: QuantizedGraph,
    images: Images | npt.NDArray[np.uint8],
    *,
    device: Literal["cpu", "gpu"] = "cpu",
    precision: Literal["fp32", "tf32", "fp16", "int8"] = "int8",
    batch: int = 256,
    threads: int | None = None,
) -> Reference:
    """Runs a network natively: the integers of a simulated chip, or the fp32 network.

    Parameters
    ----------
    quantized : QuantizedGraph
        With a floating-point precision, the network that it was made from is run.
    images : Images or ndarray of uint8
        As `simulate` takes them.
    device : {"cpu", "gpu"}
        Where it runs; ``"gpu"`` is an NVIDIA GPU, through cuBLAS.
    precision : {"fp32", "int8", "tf32", "fp16"}
        ``"int8"``: whatever integers the scheme has, on a GPU at most 8 bits. ``"tf32"`` and
        ``"fp16"`` are a GPU's.
    batch : int
        Images per call of the kernels.
    threads : int, optional
        Of a CPU: 1 to 1024, by default as many as the process may run; the result does not depend
        on it.

    Raises
    ------
    TypeError, ValueError
        As `simulate`.
    InputError
        If there is no such device or precision; for a GPU, with the reason: a build without CUDA,
        no driver, no GPU.
    OSError
        If the GPU fails.
    KeyboardInterrupt
        Within a second of Ctrl-C.
    """
    if not isinstance(quantized, QuantizedGraph):
        raise TypeError(f"quantized: expected a QuantizedGraph, got {type(quantized).__name__}")
    pixels = pixels_of(images)
    if device not in _PRECISIONS:
        raise _core.InputError(f"device: {device!r} (cpu or gpu)")
    if precision not in _PRECISIONS[device]:
        raise _core.InputError(f"precision: {precision!r} ({', '.join(_PRECISIONS[device])})")
    if device == "gpu":
        if precision == "int8":
            native = _core.gpu_int8(quantized._quantized, pixels, batch)
        else:
            native = _core.gpu_real(quantized.graph._graph, pixels, precision, batch)
    elif precision == "int8":
        native = _core.cpu_int8(quantized._quantized, pixels, batch, threads)
    else:
        native = _core.cpu_fp32(quantized.graph._graph, pixels, batch, threads)
    return Reference(native.name, native.real(), native.integers(), native.seconds)
