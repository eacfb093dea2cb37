"""The peer of run_vs_onnxruntime.py: ONNX Runtime on the same network and images.

  onnxruntime_peer.py prepare MODEL.onnx DATA_DIR OUT_DIR   quantizes; prints the files' names
  onnxruntime_peer.py run MODEL.onnx DATA_DIR --threads N   classifies the test images; prints JSON

A process of its own per measurement, so that memory and start-up are its own.
"""

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
import onnxruntime

BATCH = 256


def read_idx(path):
    """The array of a gzip IDX file of unsigned bytes."""
    data = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


def read_images(path):
    """Images as the network takes them: float32 [N, 1, height, width], 0 to 1."""
    return read_idx(path)[:, None].astype(np.float32) / np.float32(255)


def quantize(model, images, out):
    """Writes the network in QDQ form, once with unsigned and once with signed activations."""
    from onnxruntime import quantization

    class Calibration(quantization.CalibrationDataReader):
        def __init__(self):
            name = onnxruntime.InferenceSession(model).get_inputs()[0].name
            pieces = range(0, len(images), BATCH)
            self.batches = iter([{name: images[i : i + BATCH]} for i in pieces])

        def get_next(self):
            return next(self.batches, None)

    written = {}
    for activations in (quantization.QuantType.QUInt8, quantization.QuantType.QInt8):
        path = str(out / f"{activations.name}.onnx")
        quantization.quantize_static(
            model,
            path,
            Calibration(),
            quant_format=quantization.QuantFormat.QDQ,
            op_types_to_quantize=["Conv", "Relu", "MaxPool", "Flatten", "Gemm"],
            per_channel=True,
            activation_type=activations,
            weight_type=quantization.QuantType.QInt8,
            calibrate_method=quantization.CalibrationMethod.MinMax,
        )
        written[activations.name] = path
    return written


def prepare(model, data, out):
    return quantize(model, read_images(data / "calibration-images-idx3-ubyte.gz"), out)


class Watch:
    """Wall and processor time of this process since it was made."""

    def __init__(self):
        self.start = self.now()

    @staticmethod
    def now():
        return time.perf_counter(), time.process_time()

    def seconds(self, name):
        wall, cpu = (now - start for now, start in zip(self.now(), self.start))
        return {f"{name}_wall_seconds": wall, f"{name}_cpu_seconds": cpu}


def classify(session, images):
    name = session.get_inputs()[0].name
    pieces = range(0, len(images), BATCH)
    outputs = [session.run(None, {name: images[i : i + BATCH]})[0] for i in pieces]
    return np.concatenate(outputs).argmax(axis=1)


def run(model, data, threads):
    whole = Watch()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    images = read_images(data / "t10k-images-idx3-ubyte.gz")
    labels = read_idx(data / "t10k-labels-idx1-ubyte.gz")
    first = Watch()
    classes = classify(session, images)
    return {
        "version": onnxruntime.__version__,
        "accuracy": float((classes == labels).mean()),
        **first.seconds("inference"),
        **whole.seconds("with_set_up"),
    }


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["prepare", "run"])
    parser.add_argument("model")
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    if options.what == "prepare":
        print(json.dumps(prepare(options.model, options.data, options.out)))
    else:
        print(json.dumps(run(options.model, options.data, options.threads)))


if __name__ == "__main__":
    main()
