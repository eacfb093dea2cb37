"""From fp32 to integers."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from tilewave import _core, _html
from tilewave._files import PathName, check_readable, path_text
from tilewave.datasets import Images, pixels_of
from tilewave.graph import Graph

# The types of the fields of a scheme that may be None.
_OPTIONAL: dict[str, type] = {"seed": int, "accumulator_bits": int, "overflow": str}
# Those of what a layer can have of its own.
_LAYER: dict[str, type] = {"weight_bits": int, "activation_bits": int, "granularity": str}


def _check_type(name: str, value: object, expected: type) -> None:
    accepted = (int, float) if expected is float else (expected,)
    if not isinstance(value, accepted) or (isinstance(value, bool) and expected is not bool):
        raise TypeError(f"{name}: expected {expected.__name__}, got {type(value).__name__}")


class LayerScheme(TypedDict, total=False):
    """What a layer of a `Scheme` has of its own."""

    weight_bits: int
    activation_bits: int
    granularity: Literal["per_channel", "per_tensor"]


def _copied_layers(layers: object) -> dict[str, dict[str, Any]]:
    """A copy in plain dictionaries; TypeError unless it holds what a `LayerScheme` does."""
    if not isinstance(layers, Mapping):
        raise TypeError(f"layers: expected a mapping, got {type(layers).__name__}")
    copied: dict[str, dict[str, Any]] = {}
    for name, layer in layers.items():
        _check_type("layers", name, str)
        if not isinstance(layer, Mapping):
            raise TypeError(f"layers: {name}: expected a mapping, got {type(layer).__name__}")
        for key, value in layer.items():
            _check_type(f"layers: {name}", key, str)
            _check_type(f"layers: {name}: {key}", value, _LAYER.get(key, object))
        copied[name] = dict(layer)
    return copied


@dataclass(frozen=True, kw_only=True)
class Scheme:
    """How a network is quantized.

    Attributes
    ----------
    weight_bits, activation_bits : int
        2 to 8, or 16. Weights are symmetric.
    activation_signed : bool
        Unsigned activations have at most 8 bits.
    activation_symmetric : bool
        Zero points are 0; of signed activations only.
    granularity : {"per_channel", "per_tensor"}
        Of the weights' scales.
    weight_observer : {"min_max", "mse"}
        Scales for the largest weights, or with the least squared error.
    weight_rounding : {"nearest", "adaptive"}
        To the nearest integers, or to those that change the layer's outputs on the calibration
        images least.
    bias_correction : bool
        Biases make up for the mean error of the rounded weights.
    cross_layer_equalization : bool
        Makes the largest weights of neighbouring layers equal, channel by channel.
    observer : {"min_max", "moving_average", "percentile", "mse", "entropy"}
        How calibration turns the values that a tensor takes into its range.
    percentile : float
        Of the percentile observer: above 50, at most 100, in per cent.
    momentum : float
        Of the moving average: 0 or more, below 1.
    calibration_images : int
        How many of the calibration images are used.
    seed : int or None
        They are drawn at random with it; None: the first ones.
    requantize : {"float", "fixed_point", "fixed_point_single_rounding"}
        Rescaling as ONNX Runtime's QLinear kernels do it, or as TFLite does, or as TFLite built
        with TFLITE_SINGLE_ROUNDING.
    accumulator_bits : int or None
        12 to 32; None for what the chip has. Only simulated chips have other accumulators than
        of 32 bits that wrap.
    overflow : {"wrap", "saturate"} or None
        What an accumulator does at its limits; None for what the chip's do.
    layers : mapping of str to mapping
        What layers have of their own, by the node's name: ``weight_bits``, ``activation_bits`` of
        the tensor that it makes, ``granularity``.

    Raises
    ------
    TypeError
        If a field has another type.
    InputError
        If a field's value is not allowed.
    """

    weight_bits: int = 8
    activation_bits: int = 8
    activation_signed: bool = True
    activation_symmetric: bool = False
    granularity: Literal["per_channel", "per_tensor"] = "per_channel"
    weight_observer: Literal["min_max", "mse"] = "min_max"
    weight_rounding: Literal["nearest", "adaptive"] = "nearest"
    bias_correction: bool = False
    cross_layer_equalization: bool = False
    observer: Literal["min_max", "moving_average", "percentile", "mse", "entropy"] = "min_max"
    percentile: float = 99.99
    momentum: float = 0.99
    calibration_images: int = 1000
    seed: int | None = None
    requantize: Literal["float", "fixed_point", "fixed_point_single_rounding"] = "float"
    accumulator_bits: int | None = None
    overflow: Literal["wrap", "saturate"] | None = None
    layers: Mapping[str, LayerScheme] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for key in dataclasses.fields(self):
            value = getattr(self, key.name)
            if key.name == "layers" or (value is None and key.name in _OPTIONAL):
                continue
            _check_type(key.name, value, _OPTIONAL.get(key.name, type(key.default)))
        object.__setattr__(self, "layers", _copied_layers(self.layers))
        self._core()

    def _core(self) -> _core.Scheme:
        return _core.parse_scheme(json.dumps(self.to_dict()), "scheme")

    @classmethod
    def load(cls, path: PathName) -> Scheme:
        """Reads a YAML file; every key is optional.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        InputError
            If it has a key or value that is not allowed.
        """
        text = path_text(path, "path")
        check_readable(text)
        return cls(**json.loads(_core.load_scheme(text).to_json()))

    def to_dict(self) -> dict[str, Any]:
        """Every field, as in the command's results."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class QuantizedNode:
    """A node of a quantized network and the tensor that it makes: real = scale * (q - zero_point).

    Attributes
    ----------
    name, operation, inputs, shape
        As `GraphNode`'s.
    bits : int
        Width of the tensor's values.
    signed : bool
    scale : float
    zero_point : int
    weight : ndarray of int16 or None
        Of a convolution [out, kernel_height, kernel_width, in / groups], of a fully connected
        layer [out, in] in NHWC order of the input. Read-only, not a copy.
    weight_bits : int or None
    bias : ndarray of int32 or None
        [out], in units of the accumulators.
    weight_scale : ndarray of float32 or None
        [out]
    """

    name: str
    operation: str
    inputs: tuple[str, ...]
    shape: tuple[int, int, int]
    bits: int
    signed: bool
    scale: float
    zero_point: int
    weight: npt.NDArray[np.int16] | None = None
    weight_bits: int | None = None
    bias: npt.NDArray[np.int32] | None = None
    weight_scale: npt.NDArray[np.float32] | None = None


class QuantizedGraph:
    """A network of integers, made by `quantize`. Immutable."""

    __slots__ = ("_graph", "_quantized")
    _graph: Graph
    _quantized: _core.QuantizedGraph

    def __init__(self) -> None:
        raise TypeError("a QuantizedGraph is made by tilewave.quantize")

    @classmethod
    def _of(cls, graph: Graph, quantized: _core.QuantizedGraph) -> QuantizedGraph:
        self = cls.__new__(cls)
        self._graph = graph
        self._quantized = quantized
        return self

    @property
    def name(self) -> str:
        """The network's name."""
        return self._quantized.name

    @property
    def graph(self) -> Graph:
        """The network in fp32 that it was made from."""
        return self._graph

    @property
    def scheme(self) -> Scheme:
        """How it was quantized."""
        return Scheme(**json.loads(self._quantized.scheme.to_json()))

    @property
    def nodes(self) -> tuple[QuantizedNode, ...]:
        """The nodes in topological order; activations that follow a layer are fused into it."""
        return tuple(QuantizedNode(**node) for node in self._quantized.nodes())

    def to_onnx(self) -> bytes:
        """The content of an ONNX file in QDQ form, which ONNX Runtime and others load.

        Every tensor passes through QuantizeLinear and DequantizeLinear; weights are int8 and
        biases int32. Fewer than 8 bits are int8 too, clipped; 16 bits are int16, of opset 21. How
        sums are rescaled is not in such a file: readers round as they do.
        """
        return self._quantized.to_onnx(self._graph._graph)

    def save(self, path: PathName) -> None:
        """Writes `to_onnx` into a file, as ``tilewave quantize`` does."""
        Path(path_text(path, "path")).write_bytes(self.to_onnx())

    def __getitem__(self, name: str) -> QuantizedNode:
        """The node of this name; KeyError if there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise KeyError(name)

    def __repr__(self) -> str:
        scheme = self.scheme
        return (
            f"QuantizedGraph({self.name!r}: {len(self.nodes)} nodes, weights {scheme.weight_bits} "
            f"bits {scheme.granularity}, activations {scheme.activation_bits} bits)"
        )

    def _repr_html_(self) -> str:
        rows = []
        for node in self.nodes:
            scales = node.weight_scale
            weights = "" if node.weight is None else " x ".join(map(str, node.weight.shape))
            span = "" if scales is None else f"{scales.min():.4g} to {scales.max():.4g}"
            rows.append((node.name, node.operation, node.scale, node.zero_point, weights, span))
        header = ("node", "operation", "scale", "zero_point", "weight", "weight scales")
        return _html.table(repr(self), header, rows)


def quantize(
    graph: Graph,
    calibration: Images | npt.NDArray[np.uint8],
    scheme: Scheme | None = None,
    *,
    threads: int | None = None,
) -> QuantizedGraph:
    """Quantizes a network after training, with ranges observed on calibration images.

    Parameters
    ----------
    graph : Graph
        The network in fp32.
    calibration : Images or ndarray of uint8
        [n, height, width] or [n, height, width, channels] in C order; a pixel p stands for the
        real value p / 255. At least ``scheme.calibration_images``.
    scheme : Scheme, optional
        By default ``Scheme()``.
    threads : int, optional
        1 to 1024, by default as many as the process may run; the result does not depend on it.

    Raises
    ------
    TypeError
        If an argument has another type, or the images another dtype.
    ValueError
        If the images have another shape than the network's input or are not in C order.
    InputError
        If the network or the scheme cannot be done, or there are too few images.
    KeyboardInterrupt
        Within a second of Ctrl-C.
    """
    if not isinstance(graph, Graph):
        raise TypeError(f"graph: expected a Graph, got {type(graph).__name__}")
    scheme = Scheme() if scheme is None else scheme
    if not isinstance(scheme, Scheme):
        raise TypeError(f"scheme: expected a Scheme, got {type(scheme).__name__}")
    made = _core.quantize(graph._graph, pixels_of(calibration), scheme._core(), threads)
    return QuantizedGraph._of(graph, made)
