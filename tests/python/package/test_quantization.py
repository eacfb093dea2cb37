"""Observers, rounding and bias correction against NumPy computations of their definitions, those of
docs/quantization.md."""

import numpy as np
import onnx
import pytest
import tilewave as tw
from onnx import helper, numpy_helper

WEIGHTS = np.array([1.5, -2.25, 0.3], np.float32)
BIASES = np.array([-0.4, 0.1, 0.02], np.float32)
IMAGES = 60
SIDE = 8
BINS = 8192


def network(nodes, constants, side, channels=1):
    """An ONNX network of one output, the last node's, from nodes (type, inputs, attributes)."""
    made = []
    for i, (kind, inputs, attributes) in enumerate(nodes):
        made.append(helper.make_node(kind, inputs, [f"t{i}"], name=f"n{i}", **attributes))
    graph = helper.make_graph(
        made,
        "witness",
        [helper.make_tensor_value_info("x", 1, [1, channels, side, side])],
        [helper.make_tensor_value_info(made[-1].output[0], 1, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    return tw.load_model(onnx.shape_inference.infer_shapes(model))


@pytest.fixture(scope="module")
def pointwise():
    """y = w x + b for three channels: two roundings in fp32, which NumPy repeats exactly."""
    constants = {"w": WEIGHTS.reshape(3, 1, 1, 1), "b": BIASES}
    return network([("Conv", ["x", "w", "b"], {})], constants, SIDE)


@pytest.fixture(scope="module")
def images():
    """Mostly dark, with few bright pixels: clipping pays."""
    values = np.random.default_rng(5).exponential(12, (IMAGES, SIDE, SIDE))
    return np.minimum(values, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def outputs(images):
    """What the convolution makes, [image, pixel, channel]."""
    real = (images.astype(np.float32) / np.float32(255)).reshape(IMAGES, -1, 1)
    return real * WEIGHTS + BIASES


def quantization(low, high, bits):
    """Scale and zero_point of signed values for a range that contains 0."""
    low, high = min(np.float32(low), np.float32(0)), max(np.float32(high), np.float32(0))
    least, most = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    scale = np.float32((float(high) - float(low)) / (most - least))
    return scale, int(np.rint(least - float(low) / float(scale)))


def made_by(graph, images, **scheme):
    node = tw.quantize(graph, images, tw.Scheme(calibration_images=IMAGES, **scheme)).nodes[-1]
    return np.float32(node.scale), node.zero_point


def histogram(values):
    """Middles and counts of the bins that are not empty, in increasing order."""
    values = values.ravel().astype(float)
    sides = [-values[values < 0], values[values >= 0]]
    exponents = [np.frexp(side.max())[1] if side.size else -149 for side in sides]
    width = 2.0 ** (max(exponents) - 13)
    below, above = (np.bincount((side / width).astype(int), minlength=BINS) for side in sides)
    centres = (np.arange(BINS) + 0.5) * width
    positive = np.where(np.arange(BINS) == 0, 0, centres)
    value = np.concatenate([-centres[::-1], positive])
    count = np.concatenate([below[::-1], above])
    return value[count > 0], count[count > 0].astype(float)


def rounded(value, scale, zero_point, bits):
    q = np.rint(value / float(scale)) + zero_point
    return np.clip(q, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def candidates(values):
    """(low, high), the widest first, in fp32."""
    low, high = min(values.min(), np.float32(0)), max(values.max(), np.float32(0))
    return [(low * np.float32(i / 128), high * np.float32(i / 128)) for i in range(128, 0, -1)]


def squared_error(values, bits):
    value, count = histogram(values)
    best, least = None, np.inf
    for low, high in candidates(values):
        scale, zero = quantization(low, high, bits)
        held = float(scale) * (rounded(value, scale, zero, bits) - zero)
        error = np.sum(count * (value - held) ** 2)
        if error < least:
            best, least = (scale, zero), error
    return best


def divergence(values, bits):
    value, count = histogram(values)
    value, count = value[value != 0], count[value != 0]
    best, least = None, np.inf
    for i, (low, high) in enumerate(candidates(values)):
        inside = (value >= low) & (value <= high)
        if i > 0 and inside.sum() < 2**bits:
            continue
        scale, zero = quantization(low, high, bits)
        p = count[inside].copy()
        p[0] += count[value < low].sum()
        p[-1] += count[value > high].sum()
        level = rounded(value[inside], scale, zero, bits)
        _, index, bins = np.unique(level, return_inverse=True, return_counts=True)
        q = (np.bincount(index, count[inside]) / bins)[index]
        p, q = p / p.sum(), q / q.sum()
        found = np.sum(p * np.log(p / q))
        if found < least:
            best, least = (scale, zero), found
    return best


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
@pytest.mark.parametrize(
    ("observer", "definition"), [("mse", squared_error), ("entropy", divergence)]
)
def test_an_observer_finds_the_best_range_of_its_definition(
    pointwise, images, outputs, observer, definition, bits
):
    made = made_by(pointwise, images, observer=observer, activation_bits=bits)
    assert made == definition(outputs, bits)
    if bits < 8:
        assert made[0] < made_by(pointwise, images, activation_bits=bits)[0]


@pytest.mark.parametrize("percentile", [60, 99, 99.9, 100])
def test_the_percentile_is_that_of_the_bins(pointwise, images, outputs, percentile):
    def end(side, total, seen):
        exponent = np.frexp(side.max())[1]
        rank = np.ceil(total * (percentile / 100)) - (total - side.size)
        if rank <= 0:
            return 0
        counts = np.bincount((side * 2.0 ** (13 - exponent)).astype(int), minlength=BINS)
        bin_ = np.searchsorted(np.cumsum(counts), rank)
        return min((bin_ + 1) * 2.0 ** (exponent - 13), seen)

    values = outputs.ravel().astype(float)
    low = -end(-values[values < 0], values.size, -values.min())
    high = end(values[values >= 0], values.size, values.max())
    made = made_by(pointwise, images, observer="percentile", percentile=percentile)
    assert made == quantization(low, high, 8)
    exact = np.percentile(values, percentile, method="inverted_cdf")
    assert exact <= high <= exact + values.max() * 2.0**-12


def test_the_moving_average_goes_image_by_image(pointwise, images, outputs):
    low, high = None, None
    for image in outputs:
        ends = min(float(image.min()), 0.0), max(float(image.max()), 0.0)
        low = ends[0] if low is None else 0.9 * low + (1 - 0.9) * ends[0]
        high = ends[1] if high is None else 0.9 * high + (1 - 0.9) * ends[1]
    made = made_by(pointwise, images, observer="moving_average", momentum=0.9)
    assert made == quantization(np.float32(low), np.float32(high), 8)


@pytest.mark.parametrize("granularity", ["per_channel", "per_tensor"])
@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_weight_scales_have_the_least_squared_error(bits, granularity):
    weight = np.random.default_rng(1).standard_normal((4, 5, 3, 3)).astype(np.float32)
    constants = {"w": weight, "b": np.zeros(4, np.float32)}
    graph = network([("Conv", ["x", "w", "b"], {})], constants, 6, 5)
    scheme = tw.Scheme(
        weight_bits=bits, weight_observer="mse", granularity=granularity, calibration_images=1
    )
    made = tw.quantize(graph, np.full((1, 6, 6, 5), 9, np.uint8), scheme).nodes[-1]
    most = 2 ** (bits - 1) - 1

    def best(values):
        found, least = None, np.inf
        for i in range(128, 0, -1):
            largest = np.abs(values).max() * np.float32(i / 128)
            scale = np.float32(2 * float(largest) / (2 * most))
            held = float(scale) * np.clip(np.rint(values / scale), -most, most)
            error = np.sum((values.astype(float) - held) ** 2)
            if error < least:
                found, least = scale, error
        return found

    rows = weight.reshape(4, -1) if granularity == "per_channel" else [weight.ravel()] * 4
    np.testing.assert_array_equal(made.weight_scale, [best(row) for row in rows])


@pytest.fixture(scope="module")
def strided():
    """A grouped convolution with padding and a stride, its weights [out, row, column, in / groups],
    bias, images, and the rows of its inputs [group, row, k] in double."""
    rng = np.random.default_rng(2)
    weight = rng.standard_normal((6, 2, 3, 3)).astype(np.float32)
    bias = rng.standard_normal(6).astype(np.float32)
    attributes = {"group": 2, "strides": [2, 2], "pads": [1, 1, 1, 1]}
    graph = network([("Conv", ["x", "w", "b"], attributes)], {"w": weight, "b": bias}, 7, 4)
    images = rng.integers(0, 256, (40, 7, 7, 4), np.uint8)
    images[..., 1] = images[..., 0] // 2 + 9  # inputs that go together
    real = np.pad((images / np.float32(255)).astype(float), ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows = [
        real[:, y : y + 3, x : x + 3, group * 2 : group * 2 + 2].reshape(40, 18)
        for group in range(2)
        for y in range(0, 7, 2)
        for x in range(0, 7, 2)
    ]
    return graph, weight.transpose(0, 2, 3, 1), bias, images, np.reshape(rows, (2, -1, 18))


def strided_node(strided, **scheme):
    graph, _, _, images, _ = strided
    return tw.quantize(graph, images, tw.Scheme(calibration_images=40, **scheme)).nodes[-1]


def weight_errors(strided, node):
    """[out, k], what the integers stand for less the weights."""
    weight = strided[1].reshape(6, -1).astype(float)
    return node.weight.reshape(6, -1) * node.weight_scale[:, None].astype(float) - weight


def test_bias_correction_takes_the_mean_error_away(strided):
    plain = strided_node(strided, weight_bits=3)
    made = strided_node(strided, weight_bits=3, bias_correction=True)
    np.testing.assert_array_equal(made.weight, plain.weight)
    mean = strided[4].mean(axis=1)
    errors = weight_errors(strided, made)
    expected = strided[2] - np.einsum("gnk,gk->gn", errors.reshape(2, 3, 18), mean).ravel()
    unit = float(np.float32(1 / 255)) * made.weight_scale.astype(float)
    # Half a unit of rounding, and fp32's of the corrected bias.
    np.testing.assert_array_less(np.abs(made.bias * unit - expected), 0.5 * unit + 1e-6)
    assert np.abs(plain.bias * unit - expected).max() > 100 * unit.max()


@pytest.mark.parametrize("bits", [2, 3, 4])
@pytest.mark.parametrize("about_mean", [False, True])
def test_adaptive_rounding_is_no_worse_and_no_single_change_helps(strided, bits, about_mean):
    rows = strided[4]
    square = np.einsum("grk,grl->gkl", rows, rows) / rows.shape[1]
    if about_mean:
        mean = rows.mean(axis=1)
        square -= np.einsum("gk,gl->gkl", mean, mean)
    square = square.repeat(3, axis=0)
    keys = {"weight_bits": bits, "bias_correction": about_mean}

    def loss(errors):
        return np.einsum("nk,nkl,nl->n", errors, square, errors)

    nearest = strided_node(strided, **keys)
    made = strided_node(strided, weight_rounding="adaptive", **keys)
    np.testing.assert_array_equal(made.weight_scale, nearest.weight_scale)
    ours = loss(weight_errors(strided, made))
    theirs = loss(weight_errors(strided, nearest))
    assert (ours <= theirs).all()
    assert ours.sum() < 0.9 * theirs.sum()
    most = 2 ** (bits - 1) - 1
    assert np.abs(made.weight).max() <= most
    for k in range(18):
        for step in (-1, 1):
            errors = weight_errors(strided, made)
            allowed = np.abs(made.weight.reshape(6, -1)[:, k] + step) <= most
            errors[:, k] += step * made.weight_scale
            assert (loss(errors) >= ours * (1 - 1e-9))[allowed].all()


def test_equalization_leaves_the_function_and_makes_the_ranges_equal():
    rng = np.random.default_rng(3)
    first = (
        rng.standard_normal((5, 2, 3, 3)) * 4.0 ** np.arange(-2, 3)[:, None, None, None]
    ).astype(np.float32)
    constants = {
        "w": first,
        "b": rng.standard_normal(5).astype(np.float32),
        "v": rng.standard_normal((45, 7)).astype(np.float32),
        "c": rng.standard_normal(7).astype(np.float32),
    }
    nodes = [
        ("Conv", ["x", "w", "b"], {}),
        ("Relu", ["t0"], {}),
        ("MaxPool", ["t1"], {"kernel_shape": [2, 2], "strides": [2, 2]}),
        ("Flatten", ["t2"], {}),
        ("Gemm", ["t3", "v", "c"], {}),
    ]
    graph = network(nodes, constants, 8, 2)
    images = rng.integers(0, 256, (50, 8, 8, 2), np.uint8)
    keys = {"calibration_images": 50, "activation_bits": 16}
    plain = tw.quantize(graph, images, tw.Scheme(**keys))
    even = tw.quantize(graph, images, tw.Scheme(cross_layer_equalization=True, **keys))

    def ranges(quantized):
        conv, dense = (node for node in quantized.nodes if node.weight is not None)
        made = np.abs(conv.weight.reshape(5, -1)).max(axis=1) * conv.weight_scale
        read = np.abs(dense.weight * dense.weight_scale[:, None]).reshape(7, 9, 5)
        return made, read.max(axis=(0, 1))

    made, read = ranges(even)
    # The largest weight of a row is exact, the others within half a 254th of it.
    np.testing.assert_allclose(made, read, rtol=0.02)
    assert (ranges(plain)[0] > 5 * ranges(plain)[1]).any()
    same = tw.reference(plain, images, precision="int8").real
    ours = tw.reference(even, images, precision="int8").real
    # Weights of 8 bits are rounded elsewhere: each by up to 0.4 % of the largest of its row.
    np.testing.assert_allclose(ours, same, atol=0.02 * np.abs(same).max())


def test_a_low_width_on_mnist_gains_from_adaptive_rounding_and_bias_correction():
    data = tw.datasets.mnist()
    graph = tw.load_model("mnist_cnn")
    images, labels = data.test[:2000], data.test.labels[:2000]

    def accuracy(**keys):
        made = tw.quantize(graph, data.calibration, tw.Scheme(weight_bits=2, **keys))
        return np.mean(tw.reference(made, images, precision="int8").classes == labels)

    plain = accuracy()
    assert accuracy(weight_observer="mse") > plain
    assert accuracy(weight_observer="mse", weight_rounding="adaptive") > 0.97 > plain
