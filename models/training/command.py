"""What the commands of this folder share: options and the log."""

import argparse
import contextlib
import importlib.metadata
import platform
from pathlib import Path

from data import MODELS

PACKAGES = ("jax", "jaxlib", "keras", "numpy", "onnx", "onnxruntime")


def at_least(minimum):
    def integer(text):
        value = int(text)
        if value < minimum:
            raise argparse.ArgumentTypeError(f"must be {minimum} or more, not {value}")
        return value

    return integer


def add_options(parser, epochs):
    """The options of every training; `out` and `data` are left to the data set if not given."""
    parser.add_argument(
        "--epochs",
        type=at_least(2),
        default=epochs,
        help="the first warms up; default: %(default)s",
    )
    parser.add_argument("--data", type=Path, help="folder with the full training set")
    parser.add_argument("--seed", type=at_least(0), default=1, help="default: %(default)s")
    parser.add_argument(
        "--out",
        type=Path,
        help="the ONNX file to write; the log goes to training/ by default, else beside it",
    )


def resolve(parser, options, data_set, name):
    """Fills in what the options left open; the network's name is `name`."""
    options.data = options.data or data_set.training
    if not (options.data / "train-images-idx3-ubyte.gz").is_file():
        parser.error(f"no training set in {options.data}; {data_set.hint}")
    options.log = MODELS / "training" / f"{name}.log"
    if options.out:
        options.log = options.out.with_suffix(".log")
    options.out = options.out or MODELS / f"{name}.onnx"
    return options


@contextlib.contextmanager
def log_to(path):
    """A function that logs a line, on the screen and in the file, after those of the versions."""
    with open(path, "w", encoding="utf-8") as file:

        def log(line):
            print(line, flush=True)
            print(line, file=file, flush=True)

        log(f"python {platform.python_version()}")
        for package in PACKAGES:
            log(f"{package} {importlib.metadata.version(package)}")
        yield log
