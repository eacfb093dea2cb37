"""Networks in fp32."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tilewave import _core, _html
from tilewave._files import PathName, is_path, path_text


class SerializableModel(Protocol):
    """What `load_model` needs of an ``onnx.ModelProto``."""

    def SerializeToString(self) -> bytes:
        """The ONNX file's bytes."""
        ...


@dataclass(frozen=True)
class GraphNode:
    """A node of a network, with the one tensor that it makes.

    Attributes
    ----------
    name : str
    operation : str
        ONNX's name of it; ``"Gemm"`` for every fully connected layer.
    inputs : tuple of str
        The names of the nodes whose tensors it reads.
    shape : tuple of int
        (height, width, channels) of one image's tensor; a flat one is (1, 1, n).
    """

    name: str
    operation: str
    inputs: tuple[str, ...]
    shape: tuple[int, int, int]


class Graph:
    """A network in fp32, as `load_model` read it: NHWC, batch normalization folded. Immutable."""

    __slots__ = ("_graph", "_source")
    _graph: _core.Graph
    _source: tuple[bytes, str]

    def __init__(self) -> None:
        raise TypeError("a Graph is made by tilewave.load_model")

    @classmethod
    def _parse(cls, file: bytes, where: str) -> Graph:
        self = cls.__new__(cls)
        self._graph = _core.parse_onnx(file, where)
        self._source = (file, where)
        return self

    @property
    def name(self) -> str:
        """The network's name: that of its file."""
        return self._graph.name

    @property
    def input_shape(self) -> tuple[int, int, int]:
        """(height, width, channels) of one input image."""
        return self._graph.input_shape

    @property
    def outputs(self) -> int:
        """Values that it returns for one image."""
        return self._graph.outputs

    @property
    def nodes(self) -> tuple[GraphNode, ...]:
        """The nodes in topological order; the first is the input."""
        return tuple(GraphNode(*node) for node in self._graph.nodes())

    @property
    def macs(self) -> int:
        """Multiply-accumulates per image."""
        return self._graph.macs

    @property
    def parameters(self) -> int:
        """Weights and biases."""
        return self._graph.parameters

    def __reduce__(self) -> tuple[object, ...]:
        return Graph._parse, self._source

    def __repr__(self) -> str:
        height, width, channels = self.input_shape
        return (
            f"Graph({self.name!r}: {height} x {width} x {channels} -> {self.outputs}, "
            f"{len(self.nodes)} nodes, {self.parameters:,} parameters, {self.macs:,} MACs)"
        )

    def _repr_html_(self) -> str:
        rows = (
            (node.name, node.operation, ", ".join(node.inputs), " x ".join(map(str, node.shape)))
            for node in self.nodes
        )
        return _html.table(repr(self), ("node", "operation", "inputs", "shape"), rows)


def model_names() -> list[str]:
    """Names of the networks that ship with tilewave."""
    return _core.model_names()


def load_model(source: PathName | bytes | SerializableModel) -> Graph:
    """Reads a network from ONNX.

    Parameters
    ----------
    source : str, path, bytes or onnx.ModelProto
        A network that ships with tilewave (one of `model_names()`), an ONNX file, its content, or
        the message itself. One input, [batch, channels, height, width] or [batch, elements],
        float32, and one output.

    Raises
    ------
    TypeError
        If it is none of these.
    FileNotFoundError
        If there is no such file.
    InputError
        If it is not ONNX, or the network is not one that tilewave can run; with the node's name
        and what is allowed.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Graph._parse(bytes(source), "model")
    serialize = getattr(source, "SerializeToString", None)
    if callable(serialize):
        name = str(getattr(getattr(source, "graph", None), "name", ""))
        return Graph._parse(serialize(), name.replace("/", "_") or "model")
    if not isinstance(source, (str, os.PathLike)):
        raise TypeError(
            "source: expected a name, a path, bytes or an onnx.ModelProto, "
            f"got {type(source).__name__}"
        )
    path = path_text(source, "source")
    if path in model_names():
        path = str(Path(_core.data_directory()) / f"{path}.onnx")
    elif not is_path(source, ".onnx") and not Path(path).exists():
        known = ", ".join(model_names())
        raise FileNotFoundError(f"model {path!r}: neither a known name ({known}) nor a file")
    return Graph._parse(Path(path).read_bytes(), path)
