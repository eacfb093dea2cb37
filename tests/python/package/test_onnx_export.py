"""Quantized networks as ONNX files, judged by the ONNX project's checker and by ONNX Runtime, which
runs them operator by operator in fp32 between QuantizeLinear and DequantizeLinear.

Its integers are ours except where a real value lies so near to the middle between two integers
that fp32 rounds it to the other side: ours is the exact sum, rescaled once.
"""

import itertools

import numpy as np
import onnx
import pytest
import tilewave as tw
from conftest import tilewave
from onnx_networks import Network, in_our_order, quantized_tensor, random_network, run

SCHEMES = [
    {},
    {"activation_signed": False, "granularity": "per_tensor"},
    {"weight_bits": 4, "activation_bits": 4},
    {"weight_bits": 2, "activation_bits": 3, "activation_signed": False},
    {"activation_bits": 16},
    {"weight_bits": 16},
    {"requantize": "fixed_point"},
    {"granularity": "per_tensor", "layers": {"dense1": {"granularity": "per_channel"}}},
    {"activation_bits": 4, "layers": {"conv2": {"activation_bits": 8, "weight_bits": 16}}},
]


@pytest.fixture(scope="module")
def data():
    return tw.datasets.mnist()


@pytest.fixture(scope="module")
def graph():
    return tw.load_model("mnist_cnn")


def exported(quantized):
    model = onnx.load_from_string(quantized.to_onnx())
    onnx.checker.check_model(model, full_check=True)
    onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
    return model


def compared(quantized, images):
    """The last integers by ONNX Runtime and by us, [n, outputs]."""
    model = exported(quantized)
    theirs = in_our_order(run(model, images, quantized_tensor(model, None)))
    ours = tw.reference(quantized, images).integers
    return theirs.astype(np.int64), ours.astype(np.int64)


@pytest.mark.parametrize("scheme", SCHEMES, ids=str)
def test_onnx_checks_and_runs_the_file_of_every_scheme(scheme, data, graph):
    quantized = tw.quantize(graph, data.calibration, tw.Scheme(**scheme))
    assert quantized.to_onnx() == quantized.to_onnx()
    theirs, ours = compared(quantized, data.test.images[:200])
    assert abs(theirs - ours).max() <= 1
    assert (theirs != ours).mean() < 0.05
    wide = "16" in str(scheme)
    assert exported(quantized).opset_import[0].version == (21 if wide else 13)


@pytest.mark.parametrize("kind", ["int8", "uint8"])
def test_on_10_000_images_the_logits_are_ours_but_for_roundings(kind, data, graph):
    scheme = tw.Scheme(activation_signed=kind == "int8")
    theirs, ours = compared(tw.quantize(graph, data.calibration, scheme), data.test.images)
    assert ours.size == 100_000
    # 7 where this was written; the order of fp32 sums depends on the processor.
    assert (theirs != ours).sum() <= 100
    assert abs(theirs - ours).max() <= 1


@pytest.mark.parametrize("seed", range(40))
def test_random_networks_give_our_integers_but_for_roundings(seed):
    model, (channels, height, width) = random_network(seed)
    random = np.random.default_rng(seed)
    images = random.integers(0, 256, (64, height, width, channels), np.uint8)
    scheme = tw.Scheme(
        weight_bits=int(random.choice([8, 8, 4, 2])),
        activation_bits=int(random.choice([8, 8, 5])),
        activation_signed=bool(random.integers(2)),
        granularity=random.choice(["per_tensor", "per_channel"]).item(),
        calibration_images=len(images),
    )
    quantized = tw.quantize(tw.load_model(model), images, scheme)
    theirs, ours = compared(quantized, images)
    if "AveragePool" in {node.operation for node in quantized.nodes}:
        # An average of 4 places is a tie as often as one time in four.
        assert abs(theirs - ours).mean() < 0.7
        assert abs(theirs - ours).max() <= 4
    else:
        assert (theirs != ours).mean() <= 0.001
        assert abs(theirs - ours).max() <= 1


def smallest_case(network, pixels):
    """One image through a network: ONNX Runtime's integer and ours. Calibrated on every image of
    black and white pixels."""
    width = network.input_shape[2]
    corners = np.array(list(itertools.product([0, 255], repeat=width)), np.uint8)
    quantized = tw.quantize(
        tw.load_model(network.bytes()),
        corners[:, None],
        tw.Scheme(calibration_images=len(corners)),
    )
    theirs, ours = compared(quantized, np.array([[pixels]], np.uint8))
    return theirs.item(), ours.item()


def test_an_average_of_two_pixels_is_a_tie_in_integers_and_not_in_fp32():
    # The integers are -128 and 127, their mean -0.5: to even, 0. ONNX Runtime has the reals 0 and
    # 1, their mean 0.5, and 0.5 / fp32(1 / 255) = 127.49999: 127 - 128 = -1.
    network = Network(0, (1, 1, 2))
    network.pool("AveragePool", (1, 2))
    assert smallest_case(network, [0, 255]) == (-1, 0)


@pytest.mark.parametrize("op", ["Conv", "Gemm"])
def test_a_product_is_a_tie_in_integers_and_not_in_fp32(op):
    # 0.75 (a - b): weights 127 and -127, scale 0.75 / 127; output scale 1.5 / 255, zero_point -1.
    # The sum is -127, and times (1 / 255) (0.75 / 127) / (1.5 / 255) it is -0.5: to even, 0, and
    # 0 - 1 = -1. ONNX Runtime's real -0.75 / 255 over fp32(1.5 / 255) is beyond -0.5: -1 - 1.
    network = Network(0, (1, 1, 2))
    bias = network.constant([0])
    if op == "Conv":
        weights = network.constant([[[[0.75, -0.75]]]]), bias
        network.slide("Conv", weights, (1, 2), 1, 1, (0, 0, 0, 0))
    else:
        network.add("Flatten", "x")
        network.add("Gemm", network.last, network.constant([[0.75, -0.75]]), bias, transB=1)
        network.shape = (1,)
    assert smallest_case(network, [0, 1]) == (-2, -1)


def test_an_addition_is_rescaled_before_it_by_us_and_after_it_by_onnx_runtime():
    # x + (0.9 x + 0.3) at x = 77 / 255: a (sa / sy) + b (sb / sy) against (a sa + b sb) / sy.
    network = Network(0, (1, 1, 1))
    weights = network.constant([[[[0.9]]]]), network.constant([0.3])
    network.slide("Conv", weights, (1, 1), 1, 1, (0, 0, 0, 0))
    network.add("Add", "x", network.last)
    assert smallest_case(network, [77]) == (-27, -26)


@pytest.mark.parametrize("op", ["Relu", "Sigmoid", "Tanh", "MaxPool"])
def test_other_operators_give_our_integers_for_every_pixel(op):
    network = Network(0, (1, 1, 1))
    if op == "MaxPool":
        network.pool("MaxPool", (1, 1))
    else:
        network.add(op, "x")
    pixels = np.arange(256, dtype=np.uint8).reshape(-1, 1, 1)
    scheme = tw.Scheme(calibration_images=256)
    theirs, ours = compared(tw.quantize(tw.load_model(network.bytes()), pixels, scheme), pixels)
    assert (theirs == ours).all()


def test_the_command_writes_the_same_file(data, graph, tmp_path):
    (tmp_path / "scheme.yaml").write_text("activation_bits: 6\ngranularity: per_tensor\n")
    tilewave(
        "quantize", "mnist_cnn", "--scheme", tmp_path / "scheme.yaml", "-o", tmp_path / "c.onnx"
    )
    quantized = tw.quantize(graph, data.calibration, tw.Scheme.load(tmp_path / "scheme.yaml"))
    quantized.save(tmp_path / "p.onnx")
    written = (tmp_path / "p.onnx").read_bytes()
    assert written == (tmp_path / "c.onnx").read_bytes() == quantized.to_onnx()


def test_a_file_in_qdq_form_is_not_read_and_says_why(data, graph):
    file = tw.quantize(graph, data.calibration).to_onnx()
    with pytest.raises(tw.InputError, match="QuantizeLinear is not supported"):
        tw.load_model(file)
