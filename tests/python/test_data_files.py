"""The data sets that ship, and the script that fetches the rest of MNIST."""

import gzip
import hashlib
import subprocess

import numpy as np
import pytest
from conftest import DATA, ROOT, read_idx

SHA256 = {
    "mnist/t10k-images-idx3": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "mnist/t10k-labels-idx1": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    "fashion_mnist/t10k-images-idx3": (
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b"
    ),
    "fashion_mnist/t10k-labels-idx1": (
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34"
    ),
}
TRAINING_FILES = ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"]


def fetch(*options):
    command = [ROOT / "scripts/fetch_mnist.sh", *options]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("name", SHA256)
def test_the_test_set_is_the_published_one(name):
    data = gzip.decompress((DATA / f"{name}-ubyte.gz").read_bytes())
    assert hashlib.sha256(data).hexdigest() == SHA256[name]


@pytest.mark.parametrize("strength", ["0.05", "0.10", "0.20"])
def test_adversarial_images_differ_from_the_originals_by_the_strength_at_most(strength):
    moved = read_idx("t10k-images-idx3-ubyte", f"mnist/fgsm_{strength}").astype(int)
    original = read_idx("t10k-images-idx3-ubyte")[:1000].astype(int)
    assert moved.shape == original.shape
    difference = moved - original
    step = int(float(strength) * 255)
    # The whole step or none, but where 0 and 255 end it; a gradient of exactly zero is rare.
    ends = (moved == 0) | (moved == 255) | (difference == 0)
    assert abs(difference).max() == step
    assert set(np.unique(difference[~ends])) == {-step, step}
    assert np.mean(difference != 0) > 0.4
    labels = read_idx("t10k-labels-idx1-ubyte", f"mnist/fgsm_{strength}")
    assert (labels == read_idx("t10k-labels-idx1-ubyte")[:1000]).all()


def test_fetching_a_corrupted_file_fails_and_leaves_nothing(tmp_path):
    source, destination = tmp_path / "from", tmp_path / "to"
    source.mkdir()
    for name in TRAINING_FILES:
        (source / name).write_bytes(gzip.compress(b"not MNIST"))
    result = fetch("--from", source, destination)
    assert result.returncode == 1
    assert "wrong SHA-256" in result.stderr
    assert list(destination.iterdir()) == []


def test_a_corrupted_source_does_not_replace_what_is_there(tmp_path):
    destination = tmp_path / "to"
    destination.mkdir()
    (destination / TRAINING_FILES[0]).write_bytes(b"old")
    source = tmp_path / "from"
    source.mkdir()
    (source / TRAINING_FILES[0]).write_bytes(b"not even gzip")
    assert fetch("--from", source, destination).returncode == 1
    assert [path.name for path in destination.iterdir()] == [TRAINING_FILES[0]]
    assert (destination / TRAINING_FILES[0]).read_bytes() == b"old"
