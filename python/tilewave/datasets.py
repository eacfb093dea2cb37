"""Data sets of 8-bit images: MNIST, Fashion-MNIST, or a folder of IDX files.

>>> data = tilewave.datasets.mnist()
>>> data.test.images.shape
(10000, 28, 28)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from tilewave import _core, _html
from tilewave._files import PathName, check_readable, is_path, path_text

__all__ = ["Dataset", "Images", "fashion_mnist", "load", "mnist", "mnist_training", "read_idx"]


@dataclass(frozen=True, eq=False)
class Images:
    """Images and their labels.

    Attributes
    ----------
    images : ndarray of uint8
        [n, height, width], or [n, height, width, channels] if there are several channels; a pixel
        p stands for the real value p / 255.
    labels : ndarray of uint8 or None
        [n]
    name : str
        Where they are from; results carry it.
    """

    images: npt.NDArray[np.uint8]
    labels: npt.NDArray[np.uint8] | None = None
    name: str = "images"

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, part: slice) -> Images:
        """Some of the images; views, not copies."""
        if not isinstance(part, slice):
            raise TypeError(f"expected a slice, got {type(part).__name__}; images[i] is one image")
        labels = None if self.labels is None else self.labels[part]
        return Images(self.images[part], labels, self.name)

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.images.shape[1:]))
        kind = "unlabelled" if self.labels is None else "labelled"
        return f"Images({self.name!r}: {len(self):,} {kind} of {size}, {self.images.dtype})"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Images to test on, and others to calibrate on; no image is in both.

    Attributes
    ----------
    name : str
    test : Images
    calibration : Images
    """

    name: str
    test: Images
    calibration: Images

    def __iter__(self) -> Iterator[Images]:
        return iter((self.test, self.calibration))

    def __repr__(self) -> str:
        return (
            f"Dataset({self.name!r}: {len(self.test):,} test images, "
            f"{len(self.calibration):,} for calibration)"
        )

    def _repr_html_(self) -> str:
        rows = []
        for part, images in (("test", self.test), ("calibration", self.calibration)):
            classes = "" if images.labels is None else len(np.unique(images.labels))
            rows.append((part, len(images), " x ".join(map(str, images.images.shape[1:])), classes))
        return _html.table(repr(self), ("part", "images", "size", "classes"), rows)


def load(name_or_directory: PathName) -> Dataset:
    """Reads a data set.

    Parameters
    ----------
    name_or_directory : str or path
        ``"mnist"``, ``"fashion_mnist"``, or a folder with IDX files named as MNIST's, plain or
        gzip: ``t10k-images-idx3-ubyte``, ``t10k-labels-idx1-ubyte``, and the same with
        ``calibration`` or ``train`` for ``t10k``, of which the first 1,000 images are used. A
        folder with neither takes the calibration images of the folder that it lies in.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    InputError
        If it lacks a file, or a file is malformed.
    """
    name = path_text(name_or_directory, "name_or_directory")
    if is_path(name_or_directory) and not Path(name).exists():
        raise FileNotFoundError(f"data set {name!r}: there is no such folder")
    name, test, calibration = _core.load_dataset(name)
    return Dataset(name, Images(*test, name), Images(*calibration, f"{name} (calibration)"))


def mnist(directory: PathName | None = None) -> Dataset:
    """MNIST: the 10,000 test images, and 1,000 training images to calibrate on, 28 x 28.

    Parameters
    ----------
    directory : str or path, optional
        A folder as `load` takes, instead of what ships with tilewave.
    """
    return load("mnist" if directory is None else Path(path_text(directory, "directory")))


def fashion_mnist(directory: PathName | None = None) -> Dataset:
    """Fashion-MNIST: 10,000 test images, and 1,000 training images to calibrate on, 28 x 28.

    Parameters
    ----------
    directory : str or path, optional
        A folder as `load` takes, instead of what ships with tilewave.
    """
    return load("fashion_mnist" if directory is None else Path(path_text(directory, "directory")))


def mnist_training(directory: PathName | None = None) -> Images:
    """MNIST's 60,000 training images, which ``scripts/fetch_mnist.sh`` fetches.

    Parameters
    ----------
    directory : str or path, optional
        The folder that the script filled; by default its own default, in the source tree or, of
        an installed package, in the folder of the data sets.

    Raises
    ------
    FileNotFoundError
        If they have not been fetched.
    """
    if directory is None:
        folder = Path(_core.data_directory()) / "data" / "mnist" / "full"
    else:
        folder = Path(path_text(directory, "directory"))
    files = [folder / f"train-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
    for file in files:
        if not file.exists():
            raise FileNotFoundError(f"{file}: not there; scripts/fetch_mnist.sh DIR fetches it")
    return Images(read_idx(files[0]), read_idx(files[1]), "mnist (training)")


def read_idx(path: PathName) -> npt.NDArray[np.uint8]:
    """The array in an IDX file of unsigned bytes, plain or gzip; read-only.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    InputError
        If it is malformed.
    """
    text = path_text(path, "path")
    check_readable(text)
    return _core.read_idx(text)


def pixels_of(images: object) -> object:
    """The array of what may be Images; checked where it is used."""
    return images.images if isinstance(images, Images) else images
