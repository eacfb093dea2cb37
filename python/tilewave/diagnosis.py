"""Which layer of a quantized network costs how much, and why."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from tilewave import _core
from tilewave._files import PathName
from tilewave._optional import import_pandas
from tilewave.chip import Chip
from tilewave.datasets import Images, pixels_of
from tilewave.graph import Graph
from tilewave.quantization import QuantizedGraph

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class LayerDiagnosis:
    """A layer's tensor in the integer network against the same tensor in fp32.

    Attributes
    ----------
    name, op : str
        The layer and its operation.
    activation_bits : int
        Of the tensor's values.
    weight_bits : int or None
        None for a layer without weights.
    sqnr_db : float or None
        Signal to quantization noise ratio in dB, every layer integer; None where there is no error
        or no signal.
    own_sqnr_db : float or None
        Likewise, where the layer's inputs are those of fp32: the error of this layer alone.
    cosine : float
        Of the two tensors, all images as one vector.
    saturated : float
        Share of the values that requantization clamped to an end of their format, 0 to 1.
    accumulator_bits : int or None
        That the layer's complete sums need; None without sums.
    overflows : int or None
        On the chip, as `Result.overflows`; None for a layer that the chip has not.
    cause : {"none", "overflow", "clipping", "step", "arithmetic"}
        What most of the layer's own error comes from: sums that left the accumulators, values out
        of the tensor's range, rounding to the tensor's integers, or the integers of weights and
        inputs.
    histogram : tuple of int
        Values in equal parts of the format's range.
    """

    name: str
    op: str
    activation_bits: int
    weight_bits: int | None
    sqnr_db: float | None
    own_sqnr_db: float | None
    cosine: float
    saturated: float
    accumulator_bits: int | None
    overflows: int | None
    cause: Literal["none", "overflow", "clipping", "step", "arithmetic"]
    histogram: tuple[int, ...]


class Diagnosis:
    """A quantized network against fp32, layer by layer, as `diagnose` returns it. Immutable."""

    def __init__(self, diagnosis: _core.Diagnosis) -> None:
        self._diagnosis = diagnosis

    @cached_property
    def _report(self) -> dict[str, Any]:
        report: dict[str, Any] = json.loads(self._diagnosis.to_json())
        return report

    def to_dict(self) -> dict[str, Any]:
        """Everything: what ``tilewave diagnose`` writes as JSON."""
        copy: dict[str, Any] = json.loads(self._diagnosis.to_json())
        return copy

    @property
    def accuracy(self) -> float | None:
        """Share of the images that the chip puts into the right class; None without labels."""
        accuracy: float | None = self._report["accuracy"]
        return accuracy

    @property
    def accuracy_fp32(self) -> float | None:
        """The same in fp32."""
        accuracy: float | None = self._report["accuracy_fp32"]
        return accuracy

    @property
    def agreement_fp32(self) -> float:
        """Share of the images with the same class on the chip as in fp32."""
        return float(self._report["agreement_fp32"])

    @cached_property
    def layers(self) -> tuple[LayerDiagnosis, ...]:
        """The layers of the quantized network, in order."""
        return tuple(
            LayerDiagnosis(**{**layer, "histogram": tuple(layer["histogram"])})
            for layer in self.to_dict()["layers"]
        )

    def __getitem__(self, name: str) -> LayerDiagnosis:
        """The layer of this name; KeyError if there is none."""
        for layer in self.layers:
            if layer.name == name:
                return layer
        raise KeyError(name)

    @property
    def worst_layer(self) -> LayerDiagnosis | None:
        """The layer that alone has the lowest SQNR; None if none has an error."""
        name = self._report["worst_layer"]
        return None if name is None else self[name]

    @cached_property
    def table(self) -> pandas.DataFrame:
        """A row per layer, with the columns of ``tilewave diagnose --csv``.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        csv = io.StringIO(self._diagnosis.to_csv())
        table: pandas.DataFrame = import_pandas("Diagnosis.table").read_csv(csv)
        return table

    def __repr__(self) -> str:
        worst = self.worst_layer
        name = "no layer has an error" if worst is None else f"{worst.name!r} hurts most"
        return f"Diagnosis({self._report['model']!r}, {len(self.layers)} layers: {name})"

    def __str__(self) -> str:
        """What the command prints."""
        return self._diagnosis.to_text()


def diagnose(
    quantized: QuantizedGraph,
    graph: Graph | None,
    images: Images | npt.NDArray[np.uint8],
    *,
    chip: Chip | PathName = "tpu_v1",
    batch: int = 256,
    threads: int | None = None,
) -> Diagnosis:
    """Compares a quantized network with fp32, layer by layer.

    Parameters
    ----------
    quantized : QuantizedGraph
        Its layers are run natively, with 32-bit accumulators.
    graph : Graph or None
        The network in fp32; None for ``quantized.graph``.
    images : Images or ndarray of uint8
        As `simulate` takes them. Labels that come with them give the accuracies.
    chip : Chip, str or path
        Where accuracy and overflows are counted; a chip, or what `Chip.load` takes.
    batch : int
        Images per launch on the chip.
    threads : int, optional
        1 to 1024, by default as many as the process may run; the result does not depend on it.

    Raises
    ------
    TypeError, ValueError
        As `simulate`.
    InputError
        If the network does not fit the chip.
    KeyboardInterrupt
        Within a second of Ctrl-C.
    """
    if not isinstance(quantized, QuantizedGraph):
        raise TypeError(f"quantized: expected a QuantizedGraph, got {type(quantized).__name__}")
    graph = quantized.graph if graph is None else graph
    if not isinstance(graph, Graph):
        raise TypeError(f"graph: expected a Graph, got {type(graph).__name__}")
    chip = chip if isinstance(chip, Chip) else Chip.load(chip)
    labels = images.labels if isinstance(images, Images) else None
    name = images.name if isinstance(images, Images) else "images"
    return Diagnosis(
        _core.diagnose(
            graph._graph, quantized._quantized, name, pixels_of(images), labels, chip._chip,
            batch, threads,
        )
    )  # fmt: skip
