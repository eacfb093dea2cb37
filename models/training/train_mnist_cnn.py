#!/usr/bin/env python3
"""Train the MNIST network of tilewave and write it as ONNX.

The network is the one the project started from: two blocks of a 2x2 convolution, max-pooling and
dropout, then two dense layers. The last 5,000 training images are held out for validation. The
test set is read once, after the ONNX file is written, and measured through ONNX Runtime.
"""

import argparse
import gzip
import importlib.metadata
import os
import platform
import struct
import sys
import time
from pathlib import Path

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp
import keras
import numpy as np
import onnx
from export import check_onnx, onnx_model, run_onnx
from network import build_network

MODELS = Path(__file__).resolve().parent.parent
MNIST = MODELS / "data" / "mnist"
VALIDATION_IMAGES = 5000
BATCH = 1024
MICRO_BATCH = 128  # gradients are summed over pieces that stay in the cache; the step sees BATCH
PEAK_LEARNING_RATE = 4e-3
PACKAGES = ("jax", "jaxlib", "keras", "numpy", "onnx", "onnxruntime")


# --- Data ---------------------------------------------------------------------------------------


def read_idx(path):
    """The array of one gzip IDX file of unsigned bytes."""
    with gzip.open(path, "rb") as file:
        data = file.read()
    zeros, dtype, rank = struct.unpack(">HBB", data[:4])
    if zeros != 0 or dtype != 8:
        raise ValueError(f"{path.name}: not an IDX file of unsigned bytes")
    shape = struct.unpack(f">{rank}I", data[4 : 4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def read_set(folder, name):
    """Images as float32 [n, 28, 28, 1] in 0..1 and labels as int32 [n]."""
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{name}-labels-idx1-ubyte.gz")
    return images[..., None].astype(np.float32) / 255, labels.astype(np.int32)


def augment(images, rng, degrees=9.0, zoom=0.08, shear=0.08, shift=1.6):
    """Each image under its own small affine map, sampled bilinearly; zero outside the image."""
    n, height, width, _ = images.shape
    angle = np.deg2rad(rng.uniform(-degrees, degrees, n))
    scale = rng.uniform(1 - zoom, 1 + zoom, (2, n))
    slant = rng.uniform(-shear, shear, n)
    move = rng.uniform(-shift, shift, (2, n, 1, 1))

    def per_image(values):
        return values[:, None, None]

    cos, sin = np.cos(angle), np.sin(angle)
    row, column = np.mgrid[:height, :width] - np.array((height - 1, width - 1)).reshape(2, 1, 1) / 2
    y = per_image(scale[0] * cos) * row + per_image(scale[0] * (slant * cos - sin)) * column
    x = per_image(scale[1] * sin) * row + per_image(scale[1] * (slant * sin + cos)) * column
    # One pixel of zeros around the image stands for everything outside it.
    y = np.clip(y + move[0] + (height - 1) / 2 + 1, 0, height + 0.999).astype(np.float32)
    x = np.clip(x + move[1] + (width - 1) / 2 + 1, 0, width + 0.999).astype(np.float32)
    padded = np.pad(images[..., 0], ((0, 0), (1, 1), (1, 1))).ravel()
    top, left = y.astype(np.int32), x.astype(np.int32)
    y, x = y - top, x - left
    stride = width + 2
    at = per_image(np.arange(n, dtype=np.int32) * ((height + 2) * stride)) + top * stride + left
    upper = padded[at] * (1 - x) + padded[at + 1] * x
    lower = padded[at + stride] * (1 - x) + padded[at + stride + 1] * x
    return (upper * (1 - y) + lower * y)[..., None]


# --- Training -----------------------------------------------------------------------------------


class Trainer:
    """Adam on batches of BATCH, with a warm-up of one epoch and a cosine decay to zero."""

    def __init__(self, model, steps, warmup_steps, rng):
        self.model = model
        self.rng = rng
        schedule = keras.optimizers.schedules.CosineDecay(
            PEAK_LEARNING_RATE / 20,
            steps - warmup_steps,
            warmup_target=PEAK_LEARNING_RATE,
            warmup_steps=warmup_steps,
        )
        self.optimizer = keras.optimizers.Adam(schedule)
        self.optimizer.build(model.trainable_variables)
        self.weights = [v.value for v in model.trainable_variables]
        self.moments = [v.value for v in self.optimizer.variables]
        self.gradient = jax.jit(jax.value_and_grad(self._loss))
        self.update = jax.jit(self._update)
        self.infer = jax.jit(self._infer)

    def _random_state(self):
        """Fresh words for each dropout layer: the network has no other untrained variable."""
        return [
            self.rng.integers(2**32, size=v.shape, dtype=np.uint32)
            for v in self.model.non_trainable_variables
        ]

    def _loss(self, weights, state, images, labels):
        probabilities, _ = self.model.stateless_call(weights, state, images, training=True)
        return jnp.sum(keras.losses.sparse_categorical_crossentropy(labels, probabilities)) / BATCH

    def _update(self, weights, moments, pieces):
        loss, gradients = jax.tree.map(lambda *values: sum(values), *pieces)
        return loss, *self.optimizer.stateless_apply(moments, gradients, weights)

    def _infer(self, weights, images):
        state = [v.value for v in self.model.non_trainable_variables]
        return self.model.stateless_call(weights, state, images, training=False)[0]

    def step(self, images, labels):
        """One update from BATCH images; returns their mean loss."""
        # The pieces do not depend on each other, so that the runtime may overlap them; their sum
        # has a fixed order.
        pieces = []
        for first in range(0, BATCH, MICRO_BATCH):
            piece = slice(first, first + MICRO_BATCH)
            pieces.append(
                self.gradient(self.weights, self._random_state(), images[piece], labels[piece])
            )
        loss, self.weights, self.moments = self.update(self.weights, self.moments, pieces)
        return float(loss)

    def accuracy(self, images, labels):
        pieces = range(0, len(images), 500)
        predicted = [self.infer(self.weights, images[i : i + 500]) for i in pieces]
        return accuracy_of(np.concatenate(predicted), labels)


def accuracy_of(probabilities, labels):
    return float(np.mean(np.argmax(probabilities, axis=1) == labels))


def train(model, images, labels, epochs, seed, log):
    rng = np.random.default_rng(seed)
    validation = images[-VALIDATION_IMAGES:], labels[-VALIDATION_IMAGES:]
    images, labels = images[:-VALIDATION_IMAGES], labels[:-VALIDATION_IMAGES]
    steps = len(images) // BATCH
    trainer = Trainer(model, steps * epochs, warmup_steps=steps, rng=rng)
    for epoch in range(1, epochs + 1):
        start = time.monotonic()
        batches = rng.permutation(len(images))[: steps * BATCH].reshape(steps, BATCH)
        losses = [trainer.step(augment(images[b], rng), labels[b]) for b in batches]
        accuracy = trainer.accuracy(*validation)
        log(
            f"epoch {epoch:3d}  loss {np.mean(losses):.4f}  validation accuracy {accuracy:.4f}"
            f"  {time.monotonic() - start:.1f} s"
        )
    for variable, value in zip(model.trainable_variables, trainer.weights, strict=True):
        variable.assign(value)
    return validation


# --- Command line -------------------------------------------------------------------------------


def at_least(minimum):
    def integer(text):
        value = int(text)
        if value < minimum:
            raise argparse.ArgumentTypeError(f"must be {minimum} or more, not {value}")
        return value

    return integer


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--epochs", type=at_least(2), default=12, help="the first warms up; default: %(default)s"
    )
    parser.add_argument(
        "--data", type=Path, default=MNIST / "full", help="folder with the full training set"
    )
    parser.add_argument("--seed", type=at_least(0), default=1, help="default: %(default)s")
    parser.add_argument(
        "--out",
        type=Path,
        default=MODELS / "mnist_cnn.onnx",
        help="the ONNX file to write; the log goes to training/ by default, else beside it",
    )
    options = parser.parse_args()
    if not (options.data / "train-images-idx3-ubyte.gz").is_file():
        parser.error(f"no training set in {options.data}; scripts/fetch_mnist.sh gets it")
    return options


def main():
    options = parse_options()
    default_out = options.out == MODELS / "mnist_cnn.onnx"
    log_folder = MODELS / "training" if default_out else options.out.parent
    images, labels = read_set(options.data, "train")
    with open(log_folder / f"{options.out.stem}.log", "w", encoding="utf-8") as log_file:

        def log(line):
            print(line, flush=True)
            print(line, file=log_file, flush=True)

        log(f"python {platform.python_version()}")
        for package in PACKAGES:
            log(f"{package} {importlib.metadata.version(package)}")
        log(f"epochs {options.epochs}  batch {BATCH}  seed {options.seed}")
        keras.utils.set_random_seed(options.seed)
        model = build_network(options.seed)
        validation = train(model, images, labels, options.epochs, options.seed, log)
        onnx.save(onnx_model(model), options.out)
        check_onnx(options.out, model, validation[0][:1000])
        test_images, test_labels = read_set(MNIST, "t10k")
        accuracy = accuracy_of(run_onnx(options.out, test_images), test_labels)
        log(f"test accuracy {accuracy:.4f} (fp32, the ONNX file in ONNX Runtime)")


if __name__ == "__main__":
    sys.exit(main())
