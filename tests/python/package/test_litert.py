"""The integers of the fixed-point requantizations against LiteRT's reference kernels, which get the
same weights, biases, scales and inputs and share no code with us."""

import numpy as np
import pytest
import tilewave as tw
from litert_model import LiteRtModel, run
from onnx_networks import Network

IMAGES = 256


def quantized(network, granularity="per_channel", requantize="fixed_point"):
    """The network with random images for its calibration, and those images."""
    random = np.random.default_rng(1)
    channels, height, width = network.input_shape
    images = random.integers(0, 256, (IMAGES, height, width, channels), np.uint8)
    scheme = tw.Scheme(calibration_images=IMAGES, requantize=requantize, granularity=granularity)
    return tw.quantize(tw.load_model(network.bytes()), images, scheme), images


def input_integers(node, images):
    pixels = images if images.ndim == 4 else images[..., None]
    steps = np.rint(pixels.astype(np.float32) / np.float32(255) / np.float32(node.scale))
    return np.clip(steps + node.zero_point, -128, 127).astype(np.int8)


def by_litert(q, images, dense="FULLY_CONNECTED"):
    return run(LiteRtModel(q, dense), input_integers(q.nodes[0], images))


def conv(network):
    network.conv(5, 3)


def conv_with_relu(network):
    network.conv(6, 3, groups=2, pads=(1, 0, 1, 0))
    network.add("Relu", network.last)


def conv_with_clip(network):
    network.conv(4, 3, stride=2, dilation=2, pads=(1, 1, 1, 1))
    network.clip(0, 6)


def depthwise(network):
    network.conv(8, 3, groups=4)


def max_pool(network):
    network.pool("MaxPool", (2, 3), pads=(1, 0, 0, 1))


def average_pool(network):
    network.pool("AveragePool", (2, 2))


def average_pool_that_counts_pads(network):
    network.pool("AveragePool", (3, 2), pads=(1, 1, 1, 0), count_include_pad=1)


def global_average_pool(network):
    network.pool("AveragePool", network.shape[1:])


def addition(network):
    network.residual()


def addition_of_one_tensor(network):
    network.add("Add", "x", "x")


def several(network):
    network.conv(4, 2, pads=(0, 0, 1, 1))
    network.add("Relu", network.last)
    network.residual()
    network.pool("MaxPool", (2, 2), stride=2)
    network.conv(8, 3, groups=4, pads=(1, 1, 1, 1))
    network.pool("AveragePool", (3, 3))


LAYERS = [
    conv,
    conv_with_relu,
    conv_with_clip,
    depthwise,
    max_pool,
    average_pool,
    average_pool_that_counts_pads,
    global_average_pool,
    addition,
    addition_of_one_tensor,
    several,
]


@pytest.mark.parametrize("granularity", ["per_channel", "per_tensor"])
@pytest.mark.parametrize("layers", LAYERS, ids=lambda layers: layers.__name__)
def test_our_integers_are_litert_s(layers, granularity):
    for seed in range(5):
        network = Network(seed, (4, 6, 6))
        layers(network)
        q, images = quantized(network, granularity)
        ours = tw.reference(q, images).integers
        assert len(np.unique(ours)) > 20
        assert (by_litert(q, images) == ours).all()


def test_mnist_s_logits_are_litert_s_with_dense_layers_as_convolutions():
    # All 10,000 images agree too; LiteRT's reference kernels take some minutes for them.
    data = tw.datasets.mnist()
    scheme = tw.Scheme(requantize="fixed_point")
    q = tw.quantize(tw.load_model("mnist_cnn"), data.calibration, scheme)
    images = data.test.images[:200]
    assert (by_litert(q, images, "CONV_2D") == tw.reference(q, images).integers).all()


def accumulators(q, integers):
    """Of a network of one fully connected layer, [n, outputs]."""
    first, dense = q.nodes[0], q.nodes[-1]
    values = integers.reshape(len(integers), -1).astype(np.int64) - first.zero_point
    return values @ dense.weight.T.astype(np.int64) + dense.bias


@pytest.mark.parametrize("granularity", ["per_channel", "per_tensor"])
def test_litert_s_fully_connected_kernel_rounds_once_unlike_its_others(granularity):
    for seed in range(10):
        network = Network(seed, (4, 6, 6))
        network.gemm(5)
        network.add("Relu", network.last)
        network.gemm(3)
        once, images = quantized(network, granularity, "fixed_point_single_rounding")
        assert (by_litert(once, images) == tw.reference(once, images).integers).all()
        twice, images = quantized(network, granularity)
        assert (by_litert(twice, images, "CONV_2D") == tw.reference(twice, images).integers).all()


def test_one_rounding_and_two_differ_where_the_first_makes_a_tie():
    # 0.9 x + 0.1 at x = 0: the sum is the bias, 3598, and the multiplier 0.90708661 * 2^-7, so
    # that the result is 25.4976. Rounded to 7 more bits first it is 3264 / 128 = 25.5: 26.
    network = Network(0, (1, 1, 1))
    network.add("Flatten", "x")
    weights = network.constant([[0.9]]), network.constant([0.1])
    network.add("Gemm", network.last, *weights, transB=1)
    network.shape = (1,)
    pixels = np.arange(256, dtype=np.uint8).reshape(-1, 1, 1)
    scheme = tw.Scheme(calibration_images=256, requantize="fixed_point")
    graph = tw.load_model(network.bytes())
    q = tw.quantize(graph, pixels, scheme)
    assert accumulators(q, input_integers(q.nodes[0], pixels[:1])) == 3598
    assert by_litert(q, pixels[:1]) == -128 + 25
    assert by_litert(q, pixels[:1], "CONV_2D") == -128 + 26
    assert tw.reference(q, pixels[:1]).integers == -128 + 26
    scheme = tw.Scheme(calibration_images=256, requantize="fixed_point_single_rounding")
    assert tw.reference(tw.quantize(graph, pixels, scheme), pixels[:1]).integers == -128 + 25
