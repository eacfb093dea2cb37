"""The command's accuracies against ONNX Runtime, which shares no code with it."""

import numpy as np
import onnxruntime
from conftest import ROOT, read_idx

BATCH = 500
# Classes may differ where two probabilities are equal but for the order of the sums.
IMAGES_THAT_ROUNDING_MAY_MOVE = 1


def onnxruntime_accuracy():
    images = read_idx("t10k-images-idx3-ubyte")[:, None].astype(np.float32) / np.float32(255)
    labels = read_idx("t10k-labels-idx1-ubyte")
    session = onnxruntime.InferenceSession(
        ROOT / "models/mnist_cnn.onnx", providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    pieces = [session.run(None, {name: images[i : i + BATCH]})[0] for i in range(0, 10_000, BATCH)]
    return np.concatenate(pieces).argmax(axis=1) == labels


def test_the_fp32_accuracy_is_the_one_that_onnx_runtime_finds(full_run):
    expected = int(onnxruntime_accuracy().sum())
    ours = round(full_run["accuracy_fp32"] * 10_000)
    assert full_run["images"] == 10_000
    assert abs(ours - expected) <= IMAGES_THAT_ROUNDING_MAY_MOVE


def test_the_network_reaches_99_per_cent_in_fp32(full_run):
    assert full_run["accuracy_fp32"] >= 0.990


def test_int8_accuracy_is_within_a_tenth_of_a_point_of_fp32(full_run):
    assert abs(full_run["accuracy"] - full_run["accuracy_fp32"]) <= 0.0010 + 1e-9


def test_int8_and_fp32_agree_on_998_images_of_1000(full_run):
    assert full_run["agreement_fp32"] >= 0.998
