"""The diagnosis against NumPy and ONNX Runtime, and against the command."""

import json

import numpy as np
import onnx
import onnxruntime
import pytest
import tilewave as tw
from conftest import ROOT, tilewave

IMAGES = 200
# The fp32 tensor that each layer of the integer network stands for: after its ReLU.
LAYERS = ("conv1", "conv2", "dense1", "dense2")


@pytest.fixture(scope="module")
def images():
    return tw.datasets.mnist().test[:IMAGES]


@pytest.fixture(scope="module")
def quantized():
    scheme = tw.Scheme(weight_bits=4, activation_bits=8)
    return tw.quantize(tw.load_model("mnist_cnn"), tw.datasets.mnist().calibration, scheme)


@pytest.fixture(scope="module")
def chip():
    return tw.Chip.load("tpu_v1").replace({"precision.weight_bits": 4})


@pytest.fixture(scope="module")
def diagnosis(quantized, images, chip):
    return tw.diagnose(quantized, None, images, chip=chip)


@pytest.fixture(scope="module")
def fp32(quantized, images):
    """By layer, ONNX Runtime's tensors in NHWC."""
    model = onnx.load(ROOT / "models/mnist_cnn.onnx")
    nodes = {node.name: node for node in model.graph.node}
    readers = {name: node for node in model.graph.node for name in node.input}
    outputs = {}
    for layer in LAYERS:
        name = nodes[layer].output[0]
        reader = readers.get(name)
        outputs[layer] = reader.output[0] if reader and reader.op_type == "Relu" else name
    known = {value.name for value in model.graph.output}
    for name in set(outputs.values()) - known:
        model.graph.output.append(onnx.helper.make_empty_tensor_value_info(name))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    pixels = images.images.reshape(IMAGES, 1, 28, 28).astype(np.float32) / 255
    got = session.run(list(outputs.values()), {session.get_inputs()[0].name: pixels})
    tensors = dict(zip(outputs, got, strict=True))
    return {layer: t.transpose(0, 2, 3, 1) if t.ndim == 4 else t for layer, t in tensors.items()}


def sqnr(real, other):
    real, other = real.astype(np.float64).ravel(), other.astype(np.float64).ravel()
    return 10 * np.log10(np.sum(real**2) / np.sum((real - other) ** 2))


def test_the_last_layer_is_what_numpy_makes_of_onnx_runtime_and_the_integers(
    diagnosis, quantized, images, fp32
):
    integers = tw.reference(quantized, images).integers
    node = quantized["dense2"]
    real = fp32["dense2"]
    ours = np.float32(node.scale) * (integers - node.zero_point).astype(np.float32)
    layer = diagnosis["dense2"]
    assert layer.sqnr_db == pytest.approx(sqnr(real, ours), abs=1e-3)
    flat, other = real.ravel().astype(float), ours.ravel().astype(float)
    cosine = flat @ other / np.linalg.norm(flat) / np.linalg.norm(other)
    assert layer.cosine == pytest.approx(cosine, abs=1e-6)
    assert layer.saturated == np.mean((integers == -128) | (integers == 127))
    bins = np.bincount((integers.ravel() + 128) // 4, minlength=64)
    assert layer.histogram == tuple(bins)
    assert sum(layer.histogram) == IMAGES * 10


def test_a_layers_own_error_is_numpys_of_one_layer_fed_with_fp32(diagnosis, quantized, fp32):
    source, node = quantized["dense1"], quantized["dense2"]
    q = np.rint(fp32["dense1"] / np.float32(source.scale)) + source.zero_point
    q = np.clip(q, -128, 127).astype(np.int64)
    sums = node.bias + (q - source.zero_point) @ node.weight.astype(np.int64).T
    multiplier = np.float32(source.scale) * node.weight_scale / np.float32(node.scale)
    out = np.rint(sums.astype(np.float32) * multiplier) + node.zero_point
    out = np.clip(out, -128, 127)
    expected = sqnr(fp32["dense2"], (out - node.zero_point) * node.scale)
    # Where ONNX Runtime's fp32 and ours differ in the last place a value may round to the other
    # side.
    assert diagnosis["dense2"].own_sqnr_db == pytest.approx(expected, abs=0.05)
    assert diagnosis["dense2"].own_sqnr_db > diagnosis["dense2"].sqnr_db


def test_it_equals_the_commands(diagnosis, tmp_path):
    scheme = tmp_path / "scheme.yaml"
    scheme.write_text("weight_bits: 4\n")
    text = tilewave(
        "diagnose", "--scheme", scheme, "--set", "precision.weight_bits=4", "--images", IMAGES,
        "--json", "-",
    )  # fmt: skip
    theirs, ours = json.loads(text), diagnosis.to_dict()
    assert theirs.pop("data") == "mnist"
    ours.pop("data")
    assert theirs == ours


def test_a_diagnosis_is_a_table_and_a_text(diagnosis, quantized):
    assert list(diagnosis.table["name"]) == [node.name for node in quantized.nodes]
    assert [layer.name for layer in diagnosis.layers] == list(diagnosis.table["name"])
    worst = diagnosis.worst_layer
    assert worst.weight_bits == 4
    assert worst.cause == "arithmetic"
    assert worst.name in repr(diagnosis)
    assert f"{worst.name} hurts most" in str(diagnosis)
    assert all(len(line) <= 100 for line in str(diagnosis).splitlines())
    assert diagnosis.accuracy <= 1
    assert diagnosis.accuracy_fp32 > 0.9
    assert diagnosis.agreement_fp32 > 0.9
    with pytest.raises(KeyError):
        diagnosis["conv9"]


def test_what_cannot_be_diagnosed_is_refused(quantized, images):
    with pytest.raises(TypeError, match="quantized: expected a QuantizedGraph"):
        tw.diagnose(quantized.graph, None, images)
    with pytest.raises(TypeError, match="graph: expected a Graph"):
        tw.diagnose(quantized, quantized, images)
