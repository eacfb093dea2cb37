"""The data that ships, and the script that fetches the rest."""

import gzip
import hashlib
import subprocess

import pytest
from conftest import MNIST, ROOT

SHA256 = {
    "t10k-images-idx3-ubyte": "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    "t10k-labels-idx1-ubyte": "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
}
TRAINING_FILES = ["train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz"]


def fetch(*options):
    command = [ROOT / "scripts/fetch_mnist.sh", *options]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize("name", SHA256)
def test_the_test_set_is_the_published_one(name):
    data = gzip.decompress((MNIST / f"{name}.gz").read_bytes())
    assert hashlib.sha256(data).hexdigest() == SHA256[name]


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
