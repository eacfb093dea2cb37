"""The integers of `float` requantization against ONNX Runtime's own integer kernels, QLinearConv,
QLinearMatMul and QGemm, bit for bit: the exported network with each Conv and Gemm between its
QuantizeLinear and DequantizeLinear replaced by one of them.

Its kernels of signed weights add pairs of products in 16 bits on processors without VNNI; those of
unsigned ones are exact everywhere. Therefore weights are stored as q + 128 here.
"""

import numpy as np
import onnx
import onnxruntime
import pytest
import tilewave as tw
from onnx import helper, numpy_helper
from onnx_networks import in_our_order, quantized_tensor, random_network, run


def with_integer_kernels(model):
    """Of a QDQ model of uint8 activations and int8 weights."""
    graph = model.graph
    makers = {node.output[0]: node for node in graph.node}
    constants = {tensor.name: tensor for tensor in graph.initializer}

    def parts(name):
        """(integers, scale, zero_point) of a tensor that is dequantized."""
        assert makers[name].op_type == "DequantizeLinear"
        return list(makers[name].input)

    def unsigned(name):
        """The same of a weight, as q + 128."""
        integers, scale, zero_point = parts(name)
        for wanted in (integers, zero_point):
            values = numpy_helper.to_array(constants[wanted])
            made = (values.astype(np.int16) + 128).astype(np.uint8)
            graph.initializer.append(numpy_helper.from_array(made, f"{wanted}_unsigned"))
        return [f"{integers}_unsigned", scale, f"{zero_point}_unsigned"]

    replaced = 0
    for node in list(graph.node):
        if node.op_type != "QuantizeLinear" or node.input[0] not in makers:
            continue
        layer = makers[node.input[0]]
        if layer.op_type not in ("Conv", "Gemm"):
            continue
        x, w, bias = layer.input
        operands = [*parts(x), *unsigned(w)]
        ends = list(node.input[1:])
        attributes = {a.name: helper.get_attribute_value(a) for a in layer.attribute}
        if layer.op_type == "Conv":
            operator, inputs, domain = "QLinearConv", [*operands, *ends, parts(bias)[0]], ""
        else:
            operator, inputs, domain = "QGemm", [*operands, parts(bias)[0], *ends], "com.microsoft"
        made = helper.make_node(operator, inputs, node.output, domain=domain, **attributes)
        at = list(graph.node).index(node)
        graph.node.remove(node)
        graph.node.insert(at, made)
        graph.node.remove(layer)
        replaced += 1
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    return replaced


def compared(q, images):
    model = onnx.load_from_string(q.to_onnx())
    wanted = quantized_tensor(model, None)
    matrices = sum(node.operation in ("Conv", "Gemm") for node in q.nodes)
    assert with_integer_kernels(model) == matrices
    theirs = in_our_order(run(model, images, wanted))
    return theirs.astype(int), tw.reference(q, images).integers.astype(int)


@pytest.mark.parametrize("granularity", ["per_channel", "per_tensor"])
def test_all_logits_of_10_000_images_are_onnx_runtime_s(granularity):
    data = tw.datasets.mnist()
    scheme = tw.Scheme(activation_signed=False, granularity=granularity)
    q = tw.quantize(tw.load_model("mnist_cnn"), data.calibration, scheme)
    theirs, ours = compared(q, data.test.images)
    assert ours.shape == (10_000, 10)
    assert (theirs == ours).all()


@pytest.mark.parametrize("seed", range(40))
def test_random_networks_give_our_integers(seed):
    # ONNX has no integer operators for averages and sums.
    model, (channels, height, width) = random_network(seed, averages_and_sums=False)
    random = np.random.default_rng(seed)
    images = random.integers(0, 256, (64, height, width, channels), np.uint8)
    scheme = tw.Scheme(activation_signed=False, calibration_images=len(images))
    q = tw.quantize(tw.load_model(model), images, scheme)
    theirs, ours = compared(q, images)
    assert (theirs == ours).all()


@pytest.mark.parametrize("kind", [np.int8, np.uint8])
def test_qlinear_matmul_gives_our_integers(kind):
    from tilewave import onnx_backend

    random = np.random.default_rng(0)
    low, high = np.iinfo(kind).min, np.iinfo(kind).max
    # Of both kinds, b is as wide as is exact on every processor.
    least, most = (-64, 63) if kind is np.int8 else (0, 255)
    tensor = helper.make_tensor_value_info
    for depth in (1, 2, 64, 300):
        inputs = {
            "a": random.integers(low, high + 1, (9, depth)).astype(kind),
            "a_scale": np.float32(random.uniform(0.001, 0.1)),
            "a_zero_point": kind(random.integers(low, high + 1)),
            "b": random.integers(least, most + 1, (depth, 7)).astype(kind),
            "b_scale": np.float32(random.uniform(0.001, 0.1)),
            "b_zero_point": kind(random.integers(least, most + 1)),
            "y_scale": np.float32(random.uniform(0.01, 0.1) * np.sqrt(depth)),
            "y_zero_point": kind(random.integers(low, high + 1)),
        }
        inputs = {name: np.asarray(value) for name, value in inputs.items()}
        types = [helper.np_dtype_to_tensor_dtype(v.dtype) for v in inputs.values()]
        ends = [tensor(n, t, v.shape) for (n, v), t in zip(inputs.items(), types)]
        node = helper.make_node("QLinearMatMul", list(inputs), ["y"])
        graph = helper.make_graph([node], "g", ends, [tensor("y", types[0], [9, 7])])
        model = helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 21)])
        session = onnxruntime.InferenceSession(
            model.SerializeToString(), providers=["CPUExecutionProvider"]
        )
        theirs = session.run(None, inputs)[0]
        ours = onnx_backend.run_model(model, list(inputs.values()))[0]
        assert ours.dtype == theirs.dtype
        assert (ours == theirs).all()
