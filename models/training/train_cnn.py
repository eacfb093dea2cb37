#!/usr/bin/env python3
"""Train a network of tilewave and write it as ONNX.

The network is the one the project started from: two blocks of a 2x2 convolution, max-pooling and
dropout, then two dense layers. The last 5,000 training images are held out for validation. The
test set is read once, after the ONNX file is written, and measured through ONNX Runtime.
"""

import argparse
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import keras
import onnx
from command import add_options, log_to, resolve
from data import DATA_SETS, read_set, split
from export import check_onnx, onnx_model, run_onnx, trained_weights
from network import build_network
from trainer import accuracy_of, train

BATCH = 1024
PEAK_LEARNING_RATE = 4e-3


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-set", choices=DATA_SETS, default="mnist", help="default: mnist")
    add_options(parser, epochs=12)
    options = parser.parse_args()
    data_set = DATA_SETS[options.data_set]
    return data_set, resolve(parser, options, data_set, data_set.network)


def main():
    data_set, options = parse_options()
    training, validation = split(*read_set(options.data, "train"))
    with log_to(options.log) as log:
        log(f"epochs {options.epochs}  batch {BATCH}  seed {options.seed}")
        keras.utils.set_random_seed(options.seed)
        model = build_network(options.seed)
        train(
            model,
            training,
            validation,
            data_set.maps,
            log,
            epochs=options.epochs,
            batch=BATCH,
            seed=options.seed,
            peak_learning_rate=PEAK_LEARNING_RATE,
        )
        onnx.save(onnx_model(trained_weights(model), data_set.network), options.out)
        check_onnx(options.out, model, validation[0][:1000])
        test_images, test_labels = read_set(data_set.shipped, "t10k")
        accuracy = accuracy_of(run_onnx(options.out, test_images), test_labels)
        log(f"test accuracy {accuracy:.4f} (fp32, the ONNX file in ONNX Runtime)")


if __name__ == "__main__":
    sys.exit(main())
