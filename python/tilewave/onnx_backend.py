"""The integer operators of ONNX as an `onnx.backend`: each element by the arithmetic that the
simulator's networks are made of, each matrix product by the kernels of the CPU's int8 path.

It is there to be tested with ONNX's own node tests, operator by operator; networks are run through
`tilewave.load_model`.

>>> from tilewave import onnx_backend
>>> onnx_backend.run_model(model, [x])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper
from onnx.backend.base import Backend, BackendRep

from tilewave import _core

Array = npt.NDArray[Any]

_WIDTHS = {np.dtype(f"{kind}{bits}"): bits for kind in ("int", "uint") for bits in (8, 16)}
_TYPES = {
    onnx.TensorProto.FLOAT: "FLOAT",
    onnx.TensorProto.FLOAT16: "FLOAT16",
    onnx.TensorProto.INT8: "INT8",
    onnx.TensorProto.UINT8: "UINT8",
    onnx.TensorProto.INT16: "INT16",
    onnx.TensorProto.UINT16: "UINT16",
    onnx.TensorProto.INT32: "INT32",
}


def _spread(parameter: Array, shape: tuple[int, ...], axis: int, block_size: int) -> Array:
    """One value for each element: from one for all, one per index of the axis, or per block."""
    if parameter.size == 1:
        return np.full(shape, parameter.reshape(()))
    if block_size:
        repeated = np.repeat(parameter, block_size, axis)
        return np.take(repeated, range(shape[axis]), axis)
    along = [1] * len(shape)
    along[axis] = parameter.size
    return np.broadcast_to(parameter.reshape(along), shape)


def _flat(values: Array, dtype: npt.DTypeLike) -> Array:
    return np.ascontiguousarray(values, dtype).reshape(-1)


def _quantize_linear(
    x: Array,
    scale: Array,
    zero_point: Array | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    saturate: int = 1,
) -> Array:
    dtype = np.dtype(np.uint8)
    if zero_point is not None:
        dtype = zero_point.dtype
    elif output_dtype:
        dtype = helper.tensor_dtype_to_np_dtype(output_dtype)
    zeros = np.zeros_like(scale, dtype) if zero_point is None else zero_point
    made = _core.quantize_linear(
        _flat(x, np.float32),
        _flat(_spread(scale, x.shape, axis, block_size), np.float32),
        _flat(_spread(zeros, x.shape, axis, block_size), np.int32),
        _WIDTHS[dtype],
        dtype.kind == "i",
    )
    return made.reshape(x.shape).astype(dtype)


def _dequantize_linear(
    x: Array,
    scale: Array,
    zero_point: Array | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Array:
    zeros = np.zeros_like(scale, np.int32) if zero_point is None else zero_point
    made = _core.dequantize_linear(
        _flat(x, np.int32),
        _flat(_spread(scale, x.shape, axis, block_size), np.float32),
        _flat(_spread(zeros, x.shape, axis, block_size), np.int32),
    )
    return made.reshape(x.shape).astype(scale.dtype)


def _one(parameter: Array | None) -> int:
    """A zero_point of a whole tensor."""
    return 0 if parameter is None else int(parameter.reshape(()))


def _product(
    a: Array, a_zero_point: int, weight: Array, zero_points: Array | None, bias: Array
) -> Array:
    """s32 [m, n] of a [m, k] and weight [n, k], less their zero points: one, or for each n."""
    centred = weight.astype(np.int16)
    if zero_points is not None:
        centred = centred - zero_points.reshape(-1, 1).astype(np.int16)
    narrow = centred.size == 0 or abs(centred).max() <= 127
    return _core.integer_product(
        np.ascontiguousarray(a, np.int16),
        a_zero_point,
        a.dtype.kind == "i",
        np.ascontiguousarray(centred),
        8 if narrow else 16,
        bias.astype(np.int32),
    )


def _matrices(a: Array, b: Array) -> tuple[Array, Array, tuple[int, ...]]:
    """Stacks of matrices, as MatMul broadcasts them, and the stack's shape."""
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    left = np.broadcast_to(a, (*stack, *a.shape[-2:])).reshape(-1, *a.shape[-2:])
    right = np.broadcast_to(b, (*stack, *b.shape[-2:])).reshape(-1, *b.shape[-2:])
    return left, right, stack


def _matmul(
    a: Array,
    b: Array,
    a_zero_point: Array | None,
    b_zero_point: Array | None,
    finish: Callable[[Array], Array],
) -> Array:
    left, right, stack = _matrices(a, b)
    bias = np.zeros(b.shape[-1], np.int32)
    made = [
        finish(_product(one, _one(a_zero_point), other.T, b_zero_point, bias))
        for one, other in zip(left, right)
    ]
    return np.stack(made).reshape(*stack, a.shape[-2], b.shape[-1])


def _matmul_integer(
    a: Array, b: Array, a_zero_point: Array | None = None, b_zero_point: Array | None = None
) -> Array:
    return _matmul(a, b, a_zero_point, b_zero_point, lambda acc: acc)


def _requantized(
    acc: Array, input_scale: Array, weight_scale: Array, scale: Array, zero_point: Array
) -> Array:
    """`float` requantization of acc [m, n]."""
    scales = np.broadcast_to(weight_scale.reshape(-1), acc.shape[1]).astype(np.float32)
    made = _core.requantize(
        np.ascontiguousarray(acc),
        float(input_scale.reshape(())),
        scales.tolist(),
        float(scale.reshape(())),
        _one(zero_point),
        zero_point.dtype.kind == "i",
    )
    return made.astype(zero_point.dtype)


def _qlinear_matmul(
    a: Array,
    a_scale: Array,
    a_zero_point: Array,
    b: Array,
    b_scale: Array,
    b_zero_point: Array,
    y_scale: Array,
    y_zero_point: Array,
) -> Array:
    def finish(acc: Array) -> Array:
        return _requantized(acc, a_scale, b_scale, y_scale, y_zero_point)

    return _matmul(a, b, a_zero_point, b_zero_point, finish)


def _pads(
    shape: tuple[int, ...], kernel: Sequence[int], strides: Sequence[int],
    dilations: Sequence[int], auto_pad: str, pads: Sequence[int],
) -> list[tuple[int, int]]:  # fmt: skip
    """(before, after) of each axis of the image."""
    if auto_pad in ("NOTSET", "VALID"):
        return list(zip(pads[: len(shape)], pads[len(shape) :]))
    made = []
    for size, taps, stride, dilation in zip(shape, kernel, strides, dilations):
        wanted = (math.ceil(size / stride) - 1) * stride + (taps - 1) * dilation + 1 - size
        less, more = max(wanted, 0) // 2, (max(wanted, 0) + 1) // 2
        made.append((less, more) if auto_pad == "SAME_UPPER" else (more, less))
    return made


def _conv(
    x: Array,
    w: Array,
    x_zero_point: Array | None,
    w_zero_point: Array | None,
    bias: Array | None,
    finish: Callable[[Array, slice], Array],
    *,
    auto_pad: bytes = b"NOTSET",
    dilations: Sequence[int] | None = None,
    group: int = 1,
    kernel_shape: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Array:
    """The rows of the windows times the filters, a group at a time; a padded place is the
    zero_point."""
    axes = x.ndim - 2
    kernel = w.shape[2:]
    strides = strides or [1] * axes
    dilations = dilations or [1] * axes
    around = _pads(
        x.shape[2:], kernel, strides, dilations, auto_pad.decode(), pads or [0] * 2 * axes
    )
    padded = np.pad(x, [(0, 0), (0, 0), *around], constant_values=_one(x_zero_point))
    reach = [(taps - 1) * dilation + 1 for taps, dilation in zip(kernel, dilations)]
    windows = np.lib.stride_tricks.sliding_window_view(padded, (1, 1, *reach))
    steps = [slice(None, None, step) for step in (*strides, *dilations)]
    places: tuple[Any, ...] = (slice(None), slice(None), *steps[:axes], 0, 0, *steps[axes:])
    windows = windows[places]
    sizes = windows.shape[2 : 2 + axes]
    made = []
    for index in range(group):
        inputs = slice(index * w.shape[1], (index + 1) * w.shape[1])
        size = w.shape[0] // group
        outputs = slice(index * size, (index + 1) * size)
        rows = np.moveaxis(windows[:, inputs], 1, 1 + axes).reshape(-1, math.prod(w.shape[1:]))
        zeros = w_zero_point
        if zeros is not None and zeros.size > 1:
            zeros = zeros.reshape(-1)[outputs]
        start = np.zeros(size, np.int32) if bias is None else bias[outputs]
        acc = _product(rows, _one(x_zero_point), w[outputs].reshape(size, -1), zeros, start)
        made.append(finish(acc, outputs).reshape(len(x), *sizes, size))
    return np.moveaxis(np.concatenate(made, -1), -1, 1)


def _conv_integer(
    x: Array,
    w: Array,
    x_zero_point: Array | None = None,
    w_zero_point: Array | None = None,
    **attributes: Any,
) -> Array:
    def finish(acc: Array, _outputs: slice) -> Array:
        return acc

    return _conv(x, w, x_zero_point, w_zero_point, None, finish, **attributes)


def _qlinear_conv(
    x: Array,
    x_scale: Array,
    x_zero_point: Array,
    w: Array,
    w_scale: Array,
    w_zero_point: Array,
    y_scale: Array,
    y_zero_point: Array,
    bias: Array | None = None,
    **attributes: Any,
) -> Array:
    def finish(acc: Array, outputs: slice) -> Array:
        scales = w_scale if w_scale.size == 1 else w_scale[outputs]
        return _requantized(acc, x_scale, scales, y_scale, y_zero_point)

    return _conv(x, w, x_zero_point, w_zero_point, bias, finish, **attributes)


_OPERATORS: dict[str, Callable[..., Array]] = {
    "ConvInteger": _conv_integer,
    "DequantizeLinear": _dequantize_linear,
    "MatMulInteger": _matmul_integer,
    "QLinearConv": _qlinear_conv,
    "QLinearMatMul": _qlinear_matmul,
    "QuantizeLinear": _quantize_linear,
}


def refusal(model: onnx.ModelProto) -> str | None:
    """Why this backend does not run a model: an operator or a type that it has not. None if it
    does."""
    for node in model.graph.node:
        if node.op_type not in _OPERATORS or node.domain not in ("", "ai.onnx"):
            return f"operator {node.op_type}"
    ends = [*model.graph.input, *model.graph.output]
    types = [value.type.tensor_type.elem_type for value in ends]
    for data_type in [*types, *(tensor.data_type for tensor in model.graph.initializer)]:
        if data_type not in _TYPES:
            return f"type {onnx.TensorProto.DataType.Name(data_type)}"
    return None


class IntegerRep(BackendRep):
    """A model that is ready to run."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self._graph = model.graph
        self._constants = {
            tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer
        }

    def run(self, inputs: Sequence[Array], **_kwargs: Any) -> tuple[Array, ...]:
        """The outputs for the inputs, each in the graph's order."""
        values = dict(self._constants)
        names = [value.name for value in self._graph.input if value.name not in values]
        values |= {name: np.asarray(value) for name, value in zip(names, inputs)}
        for node in self._graph.node:
            attributes = {
                attribute.name: helper.get_attribute_value(attribute)
                for attribute in node.attribute
            }
            operands = [values[name] if name else None for name in node.input]
            values[node.output[0]] = _OPERATORS[node.op_type](*operands, **attributes)
        return tuple(values[value.name] for value in self._graph.output)


class IntegerBackend(Backend):
    """QuantizeLinear, DequantizeLinear, QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger."""

    @classmethod
    def is_compatible(cls, model: onnx.ModelProto, device: str = "CPU", **_kwargs: Any) -> bool:
        """Whether `refusal` has nothing to say."""
        return cls.supports_device(device) and refusal(model) is None

    @classmethod
    def prepare(cls, model: onnx.ModelProto, device: str = "CPU", **kwargs: Any) -> IntegerRep:
        """The model, checked by ONNX.

        Raises
        ------
        NotImplementedError
            If it has an operator or a type that this backend has not.
        """
        super().prepare(model, device, **kwargs)
        reason = refusal(model)
        if reason is not None:
            raise NotImplementedError(f"{reason}; this backend has {', '.join(_OPERATORS)} on "
                                      f"{', '.join(_TYPES.values())}")  # fmt: skip
        return IntegerRep(model)

    @classmethod
    def supports_device(cls, device: str) -> bool:
        """Only the CPU."""
        return device.startswith("CPU")


is_compatible = IntegerBackend.is_compatible
prepare = IntegerBackend.prepare
run_model = IntegerBackend.run_model
supports_device = IntegerBackend.supports_device
