"""The data sets that the networks are trained on, and the random maps that vary their images."""

import gzip
import struct
from dataclasses import dataclass
from pathlib import Path

import numpy as np

MODELS = Path(__file__).resolve().parent.parent
VALIDATION_IMAGES = 5000


@dataclass(frozen=True)
class Maps:
    """Bounds of the random affine maps: degrees, shares of the size, pixels."""

    degrees: float
    zoom: float
    shear: float
    shift: float
    mirror: bool  # left and right swapped, in one of two images


@dataclass(frozen=True)
class DataSet:
    """What a network is trained on. The test set, in `shipped`, only measures."""

    name: str
    network: str
    training: Path  # where the full training set is
    hint: str  # how to get it
    maps: Maps

    @property
    def shipped(self):
        return MODELS / "data" / self.name


DATA_SETS = {
    data_set.name: data_set
    for data_set in (
        DataSet(
            "mnist",
            "mnist_cnn",
            MODELS / "data/mnist/full",
            "scripts/fetch_mnist.sh gets it",
            Maps(degrees=9.0, zoom=0.08, shear=0.08, shift=1.6, mirror=False),
        ),
        DataSet(
            "fashion_mnist",
            "fashion_cnn",
            Path("/usr/share/datasets/fashion-mnist"),
            "Debian's package dataset-fashion-mnist has it",
            Maps(degrees=3.0, zoom=0.05, shear=0.03, shift=1.0, mirror=True),
        ),
    )
}


def read_idx(path):
    """The array of one gzip IDX file of unsigned bytes."""
    with gzip.open(path, "rb") as file:
        data = file.read()
    zeros, dtype, rank = struct.unpack(">HBB", data[:4])
    if zeros != 0 or dtype != 8:
        raise ValueError(f"{path.name}: not an IDX file of unsigned bytes")
    shape = struct.unpack(f">{rank}I", data[4 : 4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def write_idx(path, array):
    """The array as a gzip IDX file of unsigned bytes; the same array gives the same file."""
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    data = header + np.ascontiguousarray(array, np.uint8).tobytes()
    path.write_bytes(gzip.compress(data, 9, mtime=0))


def read_set(folder, name):
    """Images as float32 [n, 28, 28, 1] in 0..1 and labels as int32 [n]."""
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{name}-labels-idx1-ubyte.gz")
    return images[..., None].astype(np.float32) / 255, labels.astype(np.int32)


def split(images, labels):
    """(images, labels) to train on, and those of the last images, to validate on."""
    training, validation = slice(None, -VALIDATION_IMAGES), slice(-VALIDATION_IMAGES, None)
    return (images[training], labels[training]), (images[validation], labels[validation])


def augment(images, rng, maps):
    """Each image under its own small affine map, sampled bilinearly; zero outside the image."""
    n, height, width, _ = images.shape
    angle = np.deg2rad(rng.uniform(-maps.degrees, maps.degrees, n))
    scale = rng.uniform(1 - maps.zoom, 1 + maps.zoom, (2, n))
    slant = rng.uniform(-maps.shear, maps.shear, n)
    move = rng.uniform(-maps.shift, maps.shift, (2, n, 1, 1))
    if maps.mirror:
        scale[1] *= rng.choice((-1, 1), n)

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
