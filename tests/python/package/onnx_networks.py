"""Small random networks in fp32 ONNX, and ONNX Runtime without its optimisations."""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Network:
    """Builds a network node by node; every node reads the one before it."""

    def __init__(self, seed, shape):
        self.random = np.random.default_rng(seed)
        self.shape = shape  # channels, height, width
        self.input_shape = shape
        self.nodes = []
        self.constants = []
        self.last = "x"

    def add(self, op, *inputs, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        self.last = name
        return name

    def constant(self, values):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.float32), name))
        return name

    def weights(self, out, *per_output):
        limit = np.sqrt(3 / np.prod(per_output))
        weight = self.random.uniform(-limit, limit, (out, *per_output))
        return self.constant(weight), self.constant(self.random.uniform(-0.5, 0.5, out))

    def conv(self, out, kernel, *, groups=1, stride=1, dilation=1, pads=(0, 0, 0, 0)):
        weights = self.weights(out, self.shape[0] // groups, kernel, kernel)
        self.slide("Conv", weights, (kernel, kernel), stride, dilation, pads, group=groups)
        self.shape = (out, *self.shape[1:])

    def pool(self, op, kernel, *, stride=1, dilation=1, pads=(0, 0, 0, 0), **attributes):
        self.slide(op, (), kernel, stride, dilation, pads, **attributes)

    def slide(self, op, weights, kernel, stride, dilation, pads, **attributes):
        self.add(op, self.last, *weights, kernel_shape=kernel, strides=[stride] * 2,
                 dilations=[dilation] * 2, pads=pads, **attributes)  # fmt: skip
        sizes = (
            (size + pads[i] + pads[i + 2] - (kernel[i] - 1) * dilation - 1) // stride + 1
            for i, size in enumerate(self.shape[1:])
        )
        self.shape = (self.shape[0], *sizes)

    def residual(self):
        start = self.last
        self.conv(self.shape[0], 3, pads=(1, 1, 1, 1))
        self.add("Add", start, self.last)

    def clip(self, low, high):
        self.add("Clip", self.last, self.constant(low), self.constant(high))

    def gemm(self, out):
        if len(self.shape) == 3:
            self.add("Flatten", self.last)
        self.add("Gemm", self.last, *self.weights(out, int(np.prod(self.shape))), transB=1)
        self.shape = (out,)

    def bytes(self):
        tensor = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "network",
            [tensor("x", TensorProto.FLOAT, ["N", *self.input_shape])],
            [tensor(self.last, TensorProto.FLOAT, ["N", *self.shape])],
            self.constants,
        )
        model = helper.make_model(graph, ir_version=9, opset_imports=[helper.make_opsetid("", 19)])
        onnx.checker.check_model(model, full_check=True)
        return model.SerializeToString()


def random_network(seed, averages_and_sums=True):
    """Bytes of a network of a few layers of every kind, and its input's shape."""
    random = np.random.default_rng(seed)
    network = Network(seed, (int(random.integers(1, 5)), *random.integers(8, 12, 2).tolist()))
    layers = [
        lambda: network.conv(4, 3, stride=2, pads=(0, 1, 1, 0)),
        lambda: network.conv(3, 2, dilation=2, pads=(1, 1, 1, 1)),
        lambda: network.conv(network.shape[0], 3, groups=network.shape[0], pads=(1, 1, 1, 1)),
        lambda: network.conv(2 * network.shape[0], 1, groups=network.shape[0]),
        lambda: network.add("Relu", network.last),
        lambda: network.clip(-0.25, 0.75),
        lambda: network.add("Sigmoid", network.last),
        lambda: network.add("Tanh", network.last),
        lambda: network.pool("MaxPool", (2, 2), stride=1, pads=(1, 0, 0, 1)),
    ]
    if averages_and_sums:
        layers += [
            lambda: network.pool("AveragePool", (2, 2), count_include_pad=1, pads=(1, 1, 0, 0)),
            lambda: network.pool("AveragePool", (2, 2), dilation=2),
            network.residual,
        ]
    for layer in random.choice(len(layers), 5):
        if min(network.shape[1:]) >= 4:
            layers[layer]()
    if network.nodes and random.integers(4):
        network.gemm(6)
        network.add("Relu", network.last)
        network.gemm(4)
    if not network.nodes:
        network.conv(2, 1)
    return network.bytes(), network.input_shape


def quantized_tensor(model, node):
    """Makes the integers of the last node, or of the one called `node`, an output of a QDQ model;
    returns their name."""
    names = [made.output[0] for made in model.graph.node if made.op_type == "QuantizeLinear"]
    name = names[-1] if node is None else f"{node}_quantized"
    assert name in names
    model.graph.output.append(onnx.ValueInfoProto(name=name))
    return name


def run(model, images, wanted, batch=500):
    """A tensor of an ONNX model, on images of uint8 [n, height, width, channels], by ONNX Runtime
    without optimisations."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    pixels = images[..., None] if images.ndim == 3 else images
    parts = []
    for first in range(0, len(pixels), batch):
        part = np.moveaxis(pixels[first : first + batch], -1, 1)
        part = np.ascontiguousarray(part, np.float32) / np.float32(255)
        parts.append(session.run([wanted], {name: part})[0])
    return np.concatenate(parts)


def in_our_order(values):
    """[n, channels, height, width] or [n, elements] as [n, elements] in NHWC order."""
    if values.ndim == 4:
        values = np.moveaxis(values, 1, -1)
    return values.reshape(len(values), -1)
