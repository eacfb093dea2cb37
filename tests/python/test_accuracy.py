"""The command's accuracies against ONNX Runtime, which shares no code with it."""

import json
import re

import numpy as np
import onnxruntime
import pytest
from conftest import ROOT, read_idx, tilewave

BATCH = 500
# Classes may differ where two probabilities are equal but for the order of the sums.
IMAGES_THAT_ROUNDING_MAY_MOVE = 1
NETWORKS = {"mnist_cnn": "mnist", "fashion_cnn": "fashion_mnist"}


@pytest.fixture(scope="module")
def runs(full_run):
    """Result of `tilewave run` with 10,000 images, for each network."""
    options = ("--model", "fashion_cnn", "--data", "fashion_mnist", "--json", "-")
    return {"mnist_cnn": full_run, "fashion_cnn": json.loads(tilewave("run", *options))}


def onnxruntime_accuracy(network):
    data_set = NETWORKS[network]
    images = read_idx("t10k-images-idx3-ubyte", data_set)[:, None].astype(np.float32)
    images /= np.float32(255)
    session = onnxruntime.InferenceSession(
        ROOT / f"models/{network}.onnx", providers=["CPUExecutionProvider"]
    )
    name = session.get_inputs()[0].name
    pieces = [session.run(None, {name: images[i : i + BATCH]})[0] for i in range(0, 10_000, BATCH)]
    labels = read_idx("t10k-labels-idx1-ubyte", data_set)
    return np.concatenate(pieces).argmax(axis=1) == labels


@pytest.mark.parametrize("network", NETWORKS)
def test_the_fp32_accuracy_is_the_one_that_onnx_runtime_finds(network, runs):
    expected = int(onnxruntime_accuracy(network).sum())
    ours = round(runs[network]["accuracy_fp32"] * 10_000)
    assert runs[network]["images"] == 10_000
    assert abs(ours - expected) <= IMAGES_THAT_ROUNDING_MAY_MOVE


@pytest.mark.parametrize(("network", "least"), [("mnist_cnn", 0.990), ("fashion_cnn", 0.880)])
def test_a_network_that_ships_reaches_its_accuracy_in_fp32(network, least, runs):
    assert runs[network]["accuracy_fp32"] >= least


# The bounds, in images of 10,000: a tenth of a point on MNIST, three tenths on Fashion-MNIST.
@pytest.mark.parametrize(("network", "most"), [("mnist_cnn", 10), ("fashion_cnn", 30)])
def test_the_int8_accuracy_is_near_that_of_fp32(network, most, runs):
    run = runs[network]
    assert abs(round((run["accuracy"] - run["accuracy_fp32"]) * 10_000)) <= most


def test_int8_and_fp32_agree_on_998_images_of_1000(full_run):
    assert full_run["agreement_fp32"] >= 0.998


def test_adversarial_images_mislead_the_network_the_more_the_stronger():
    accuracies = []
    for strength in ("0.05", "0.10", "0.20"):
        run = json.loads(tilewave("run", "--data", f"mnist/fgsm_{strength}", "--json", "-"))
        accuracies.append(run["accuracy_fp32"])
    clean = json.loads(tilewave("run", "--images", 1000, "--json", "-"))["accuracy_fp32"]
    assert clean > accuracies[0] > accuracies[1] > accuracies[2]


def test_4_bits_have_the_accuracy_of_the_framework_that_trained_them(tmp_path):
    """The integers of the command and JAX's rounded floats put the same images right, but for
    rounding: a sum may fall to the other side of a tie of the requantization."""
    log = (ROOT / "models/training/mnist_cnn_w4a4.log").read_text()
    trained = re.search(r"test accuracy (\S+) \(4-bit weights and activations, in JAX\)", log)
    scheme = tmp_path / "w4a4.yaml"
    scheme.write_text("weight_bits: 4\nactivation_bits: 4\n")
    bits = ("--set", "precision.weight_bits=4", "--set", "precision.activation_bits=4")

    def accuracy(model):
        options = ("--model", model, "--scheme", scheme, *bits, "--json", "-")
        return json.loads(tilewave("run", *options))["accuracy"]

    fine_tuned = accuracy("mnist_cnn_w4a4")
    assert abs(round((fine_tuned - float(trained[1])) * 10_000)) <= IMAGES_THAT_ROUNDING_MAY_MOVE
    assert fine_tuned >= accuracy("mnist_cnn") + 0.002
