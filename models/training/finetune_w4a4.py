#!/usr/bin/env python3
"""Fine-tune the trained MNIST network for 4-bit weights and activations and write it as ONNX.

The file is an fp32 network: its weights lie on 4-bit grids, one per output channel, and each
layer's output is clipped to the range that was learnt. tilewave's min-max calibration and its
per-channel quantization with weight_bits 4 and activation_bits 4 find these grids and ranges.

The last 5,000 of the images used are held out for validation: of the whole training set, those that
the first training held out too. The test set is read once, at the end.
"""

import argparse
import os
import sys

os.environ["KERAS_BACKEND"] = "jax"

import keras
import onnx
import onnxruntime
from command import add_options, at_least, log_to, resolve
from data import DATA_SETS, MODELS, VALIDATION_IMAGES, read_set, split
from export import LAYERS, onnx_model, run_onnx
from quantized import bounds, build_quantized, grid_weights
from trainer import accuracy_of, train

NAME = "mnist_cnn_w4a4"
BATCH = 256
PEAK_LEARNING_RATE = 5e-4
BOUND_IMAGES = 200  # that the first bounds of the activations are chosen for


def check_bounds(model, images):
    """The calibration images must reach each bound: then min-max calibration finds it."""
    names = [f"clip{i + 1}" for i in range(len(LAYERS))]
    observed = onnx.ModelProto.FromString(model.SerializeToString())
    observed.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    session = onnxruntime.InferenceSession(
        observed.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    outputs = session.run(names, {"image": images.transpose(0, 3, 1, 2)})
    tensors = {t.name: onnx.numpy_helper.to_array(t) for t in model.graph.initializer}
    for name, values in zip(names, outputs, strict=True):
        if not (values.min() == 0 and values.max() == tensors[f"{name}.bound"]):
            raise RuntimeError(f"the calibration images do not reach the bound of {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add_options(parser, epochs=2)
    parser.add_argument(
        "--images",
        type=at_least(VALIDATION_IMAGES + BATCH),
        help="use the first N training images only",
    )
    data_set = DATA_SETS["mnist"]
    options = resolve(parser, parser.parse_args(), data_set, NAME)
    images, labels = read_set(options.data, "train")
    training, validation = split(images[: options.images], labels[: options.images])
    calibration, _ = read_set(data_set.shipped, "calibration")
    with log_to(options.log) as log:
        log(f"epochs {options.epochs}  batch {BATCH}  seed {options.seed}")
        keras.utils.set_random_seed(options.seed)
        model = build_quantized(MODELS / f"{data_set.network}.onnx", calibration[:BOUND_IMAGES])
        before = accuracy_of(model.predict(validation[0], batch_size=500, verbose=0), validation[1])
        log(f"validation accuracy {before:.4f} (quantized, not yet fine-tuned)")
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
        log("bounds " + "  ".join(f"{name} {bound:.4f}" for name, bound in bounds(model).items()))
        exported = onnx_model(grid_weights(model), NAME, bounds(model))
        check_bounds(exported, calibration)
        onnx.save(exported, options.out)
        images, labels = read_set(data_set.shipped, "t10k")
        fp32 = accuracy_of(run_onnx(options.out, images), labels)
        log(f"test accuracy {fp32:.4f} (fp32, the ONNX file in ONNX Runtime)")
        quantized = accuracy_of(model.predict(images, batch_size=500, verbose=0), labels)
        log(f"test accuracy {quantized:.4f} (4-bit weights and activations, in JAX)")


if __name__ == "__main__":
    sys.exit(main())
