#!/usr/bin/env python3
"""Make test images of MNIST harder for mnist_cnn by the fast gradient sign method.

Goodfellow et al., arXiv:1412.6572: each pixel moves by the strength, in the direction that raises
the loss of the fp32 network. Strengths are shares of the full range of a pixel; a step is the
strength in whole bytes, rounded down, and pixels stay within 0 and 255. The images go to
models/data/mnist/fgsm_STRENGTH, which tilewave reads as data set mnist/fgsm_STRENGTH.
"""

import argparse
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import jax
import jax.numpy as jnp
import keras
import numpy as np
from command import at_least
from data import DATA_SETS, MODELS, read_idx, write_idx
from export import load_weights
from network import build_network

STRENGTHS = (0.05, 0.10, 0.20)


def loss_gradient(model, images, labels):
    """Of the loss with respect to the pixels [n, 28, 28, 1] in 0..1; the model gives logits."""
    weights = [v.value for v in model.trainable_variables]
    state = [v.value for v in model.non_trainable_variables]

    def loss(images):
        logits, _ = model.stateless_call(weights, state, images, training=False)
        # From logits: a probability that rounds to 1 would have no gradient.
        return jnp.sum(
            keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
        )

    return jax.jit(jax.grad(loss))(images)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--images", type=at_least(1), default=1000, help="the first N; default: %(default)s"
    )
    options = parser.parse_args()
    shipped = DATA_SETS["mnist"].shipped
    pixels = read_idx(shipped / "t10k-images-idx3-ubyte.gz")[: options.images]
    labels = read_idx(shipped / "t10k-labels-idx1-ubyte.gz")[: options.images]
    model = build_network(seed=0)
    load_weights(MODELS / "mnist_cnn.onnx", model)
    model.get_layer("dense2").activation = keras.activations.linear
    images = pixels[..., None].astype(np.float32) / 255
    direction = np.sign(loss_gradient(model, images, labels.astype(np.int32)))[..., 0]
    for strength in STRENGTHS:
        step = int(strength * 255)
        moved = np.clip(pixels + step * direction, 0, 255).astype(np.uint8)
        folder = shipped / f"fgsm_{strength:.2f}"
        folder.mkdir(exist_ok=True)
        write_idx(folder / "t10k-images-idx3-ubyte.gz", moved)
        write_idx(folder / "t10k-labels-idx1-ubyte.gz", labels)
        classes = np.argmax(model.predict(moved[..., None] / np.float32(255), verbose=0), axis=1)
        print(f"strength {strength:.2f}  step {step}  accuracy {np.mean(classes == labels):.4f}")


if __name__ == "__main__":
    sys.exit(main())
