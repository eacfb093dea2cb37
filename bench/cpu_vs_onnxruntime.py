"""The CPU paths of `tilewave compare` against ONNX Runtime: fp32 against fp32, int8 against int8.

Both sides run the same batch with the same number of threads in turns of a fraction of a second;
a ratio is the median over the turns of our median time over theirs. Prints JSON; README.md beside
this file says what each figure includes.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime_peer import quantize, read_idx

ROOT = Path(__file__).resolve().parents[1]
BATCHES = (1, 16, 256)
THREADS = (1, 2)
TURN_SECONDS = 0.15
# Threads of ONNX Runtime spin for a while after their work; they must not meet our turn.
REST_SECONDS = 0.02
IMAGES = 256
# Of outputs: that both ran the same network. ONNX Runtime's products of u8 and s8 saturate in 16
# bits where the processor has no VNNI, so its outputs may be far off ours.
SMALLEST_COSINE = {"fp32": 0.999999, "int8": 0.95}


def mnist_cnn():
    """The network that ships with tilewave, without its Softmax, and images of its data set."""
    model = onnx.load(ROOT / "models/mnist_cnn.onnx")
    softmax = model.graph.node.pop()
    assert softmax.op_type == "Softmax"
    model.graph.output[0].name = softmax.input[0]
    return model, read_idx(ROOT / "models/data/mnist/calibration-images-idx3-ubyte.gz")[:IMAGES]


def conv_net():
    """3 x 3 convolutions of 64 channels to 64 on 16 x 16 pixels, random weights and images."""
    random = np.random.default_rng(1)
    nodes, weights = [], []

    def add(kind, inputs, *shapes, **attributes):
        name = f"{kind.lower()}{len(nodes)}"
        for i, shape in enumerate(shapes):
            size = np.prod(shape[1:]) if len(shape) > 1 else 64
            value = random.normal(0, np.sqrt(2 / size), shape).astype(np.float32)
            weights.append(numpy_helper.from_array(value, f"{name}.{i}"))
        words = [inputs] + [f"{name}.{i}" for i in range(len(shapes))]
        nodes.append(helper.make_node(kind, words, [name], name, **attributes))
        return name

    def conv(inputs, channels):
        shape = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
        return add("Relu", add("Conv", inputs, (64, channels, 3, 3), (64,), **shape))

    last = conv(conv("image", 3), 64)
    last = add("MaxPool", last, kernel_shape=[2, 2], strides=[2, 2])
    last = add("MaxPool", conv(last, 64), kernel_shape=[2, 2], strides=[2, 2])
    last = add("Gemm", add("Flatten", last), (10, 1024), (10,), transB=1)
    image = helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 3, 16, 16])
    classes = helper.make_tensor_value_info(last, TensorProto.FLOAT, ["batch", 10])
    graph = helper.make_graph(nodes, "conv_net", [image], [classes], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    return model, random.integers(0, 256, (IMAGES, 16, 16, 3), np.uint8)


def write_idx(path, array):
    header = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    path.write_bytes(header + array.tobytes())


def network_input(images):
    """float32 [N, channels, height, width], 0 to 1."""
    images = images if images.ndim == 4 else images[..., None]
    real = images.astype(np.float32) / np.float32(255)
    return np.ascontiguousarray(real.transpose(0, 3, 1, 2))


class Ours:
    """cpu_bench, a process that rests between turns."""

    def __init__(self, program, model, images):
        self.process = subprocess.Popen(
            [program, model, images], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def turn(self, precision, threads, batch):
        self.process.stdin.write(f"{precision} {threads} {batch} {TURN_SECONDS}\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("cpu_bench ended")
        answer = json.loads(line)
        return answer["median_seconds"], np.array(answer["outputs"]).reshape(batch, -1)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


class Theirs:
    """A session that reads and writes arrays which are made once."""

    def __init__(self, model, threads, images):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self.images = images

    def turn(self, batch):
        binding = self.session.io_binding()
        binding.bind_cpu_input(self.session.get_inputs()[0].name, self.images[:batch])
        outputs = np.empty((batch, 10), np.float32)
        binding.bind_output(
            self.session.get_outputs()[0].name,
            "cpu",
            0,
            np.float32,
            outputs.shape,
            outputs.ctypes.data,
        )
        times = []
        for _ in range(3):
            self.session.run_with_iobinding(binding)
        end = time.perf_counter() + TURN_SECONDS
        while len(times) < 10 or time.perf_counter() < end:
            start = time.perf_counter()
            self.session.run_with_iobinding(binding)
            times.append(time.perf_counter() - start)
        return statistics.median(times), outputs


def cosine(a, b):
    return (a * b).sum() / np.sqrt((a * a).sum() * (b * b).sum())


def compare(ours, sessions, precision, threads, batch, repeats):
    """One row of the table. sessions: ONNX Runtime's, of which the fastest is the peer."""
    turns = {name: [] for name in ["tilewave", *sessions]}
    for _ in range(repeats):
        time.sleep(REST_SECONDS)
        seconds, outputs = ours.turn(precision, threads, batch)
        turns["tilewave"].append(seconds)
        for name, session in sessions.items():
            seconds, expected = session.turn(batch)
            turns[name].append(seconds)
            similarity = cosine(outputs, expected)
            if not similarity >= SMALLEST_COSINE[precision]:
                raise RuntimeError(f"{precision}, {name}: cosine of outputs {similarity:.6f}")
    peer = min(sessions, key=lambda name: statistics.median(turns[name]))
    pairs = zip(turns["tilewave"], turns[peer])
    return {
        "precision": precision,
        "threads": threads,
        "batch": batch,
        "peer": peer,
        "median_seconds": {name: statistics.median(times) for name, times in turns.items()},
        "ratio": statistics.median(mine / other for mine, other in pairs),
    }


def measure(program, name, model, images, repeats, scratch):
    path = str(scratch / f"{name}.onnx")
    onnx.save(model, path)
    write_idx(scratch / f"{name}.idx", images)
    real = network_input(images)
    models = {"fp32": {"fp32": path}, "int8": quantize(path, real, scratch)}
    ours = Ours(program, path, scratch / f"{name}.idx")
    rows = []
    for threads in THREADS:
        for precision, files in models.items():
            sessions = {kind: Theirs(file, threads, real) for kind, file in files.items()}
            for batch in BATCHES:
                print(f"{name}, {precision}, {threads} threads, {batch}", file=sys.stderr)
                row = compare(ours, sessions, precision, threads, batch, repeats)
                rows.append({"model": name} | row)
    ours.close()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cpu_bench", help="the program that runs our side")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        for make in (mnist_cnn, conv_net):
            model, images = make()
            rows += measure(
                options.cpu_bench, make.__name__, model, images, options.repeats, Path(scratch)
            )
    load = os.getloadavg()[0]
    json.dump(
        {"onnxruntime": onnxruntime.__version__, "load_average": load, "rows": rows},
        sys.stdout,
        indent=2,
    )


if __name__ == "__main__":
    main()
