"""What the tests of the command share: the command itself and data sets, read without our code."""

import gzip
import json
import subprocess
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMAND = ROOT / "build/release/tilewave"
DATA = ROOT / "models/data"


def tilewave(*options):
    """Standard output of the command."""
    words = [COMMAND, *map(str, options)]
    return subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout


def read_idx(name, data_set="mnist"):
    """Array of bytes from a gzip IDX file of a data set."""
    data = gzip.decompress((DATA / data_set / f"{name}.gz").read_bytes())
    shape = np.frombuffer(data, ">u4", data[3], 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * data[3]).reshape(shape)


@pytest.fixture(scope="session")
def full_run():
    """Result of `tilewave run` with its defaults: 10,000 images on tpu_v1."""
    return json.loads(tilewave("run", "--json", "-"))
