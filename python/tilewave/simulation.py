"""Runs on simulated chips."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from tilewave import _core, datasets
from tilewave._files import PathName
from tilewave.chip import Chip
from tilewave.datasets import Dataset, Images
from tilewave.graph import Graph, SerializableModel, load_model
from tilewave.program import Program, compile
from tilewave.quantization import Scheme, quantize
from tilewave.result import Result


def simulate(
    program: Program,
    images: Images | npt.NDArray[np.uint8] | None = None,
    *,
    engine: Literal["timeline", "systemc"] = "timeline",
    matrix_unit: Literal["tile", "pe"] | None = None,
    launches: int = 1,
    threads: int | None = None,
) -> Result:
    """Simulates a program on its chip.

    Parameters
    ----------
    program : Program
        With the chip that it was compiled for.
    images : Images or ndarray of uint8, optional
        [n, height, width] or [n, height, width, channels], at least one, in C order; not copied.
        A pixel p stands for the real value p / 255. The last launch is filled up. Labels that come
        with them give the accuracy. Without images the run is for its cycles alone, which do not
        depend on any value.
    engine : {"timeline", "systemc"}
        ``timeline`` walks the instructions once; ``systemc`` runs modules of the block diagram.
        Outputs and cycles are the same.
    matrix_unit : {"tile", "pe"}, optional
        How ``systemc`` models the array: a tile at a time, which it does by default, or every
        processing element's registers in every cycle.
    launches : int
        How many, where there are no images.
    threads : int, optional
        1 to 1024, by default as many as the process may run; the result does not depend on it.

    Returns
    -------
    Result

    Raises
    ------
    TypeError
        If an argument has another type, or the images another dtype.
    ValueError
        If the images have another shape than the program's input, are none, or are not in C order.
    InputError
        If the program does not fit the chip, or the engine is not there.
    KeyboardInterrupt
        Within a second of Ctrl-C.

    Notes
    -----
    Other Python threads go on meanwhile. One process runs one ``systemc`` simulation at a time;
    others wait for their turn.
    """
    if not isinstance(program, Program):
        raise TypeError(f"program: expected a Program, got {type(program).__name__}")
    labels = images.labels if isinstance(images, Images) else None
    name = images.name if isinstance(images, Images) else "images"
    result = _core.simulate(
        program._program, datasets.pixels_of(images), labels, name, launches, engine, matrix_unit,
        threads, False,
    )  # fmt: skip
    return Result(result, program)


def run(
    chip: Chip | PathName = "tpu_v1",
    model: Graph | PathName | bytes | SerializableModel = "mnist_cnn",
    data: Dataset | PathName = "mnist",
    *,
    images: int | None = None,
    batch: int = 256,
    scheme: Scheme | None = None,
    engine: Literal["timeline", "systemc"] = "timeline",
    matrix_unit: Literal["tile", "pe"] | None = None,
    threads: int | None = None,
    reference: bool = True,
) -> Result:
    """From names to a result in one call, as ``tilewave run`` does it: quantizes the network on
    the calibration images, compiles it, simulates the test images, and scores.

    Parameters
    ----------
    chip : Chip, str or path
        A chip, or what `Chip.load` takes.
    model : Graph, str, path, bytes or onnx.ModelProto
        A network, or what `load_model` takes.
    data : Dataset, str or path
        A data set, or what `datasets.load` takes.
    images : int, optional
        The first so many test images; by default all.
    batch : int
        Images per launch; at most as many as there are images are used.
    scheme : Scheme, optional
        How to quantize; by default ``Scheme()``.
    engine, matrix_unit, threads
        As `simulate` takes them.
    reference : bool
        Whether to run the network in fp32 too, to compare with.

    Returns
    -------
    Result
        Its `to_dict()` equals the command's JSON except under the key ``host``.

    Raises
    ------
    TypeError, ValueError, InputError, FileNotFoundError, KeyboardInterrupt
        As the functions that it is made of.
    """
    chip = chip if isinstance(chip, Chip) else Chip.load(chip)
    graph = model if isinstance(model, Graph) else load_model(model)
    dataset = data if isinstance(data, Dataset) else datasets.load(data)
    quantized = quantize(graph, dataset.calibration, scheme, threads=threads)
    result = _core.run(
        graph._graph, quantized._quantized, dataset.name,
        dataset.test.images, dataset.test.labels, chip._chip, images, batch, engine, matrix_unit,
        threads, reference,
    )  # fmt: skip
    used = len(dataset.test) if images is None else images
    return Result(result, compile(quantized, chip, min(batch, used)))
