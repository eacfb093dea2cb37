"""Run by the Python of an environment that holds nothing but the installed package.

Its arguments: the command as it was installed, and a word for every part that must be missing.
"""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import tilewave as tw

PREFIX = Path(sys.prefix).resolve()


def report_of(command, *options):
    words = [command, "run", "--images", "200", "--json", "-", *options]
    report = json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)
    del report["host"]
    return report


def main():
    command = Path(sys.argv[1])
    # From this environment, not from the source that it lies in.
    package = Path(tw.__file__).resolve().parent
    assert PREFIX in package.parents, package
    data = Path(tw._core.data_directory()).resolve()
    assert PREFIX in data.parents, data
    assert (package / "py.typed").exists()
    assert (package / "_core.pyi").exists()

    version = subprocess.run([command, "version"], check=True, capture_output=True, text=True)
    assert tw.__version__ in version.stdout

    ours = tw.run(images=200).to_dict()
    del ours["host"]
    assert ours == report_of(command)

    mnist = tw.datasets.mnist()
    q = tw.quantize(tw.load_model("mnist_cnn"), mnist.calibration)
    for name in tw.Chip.names():
        result = tw.simulate(tw.compile(q, tw.Chip.load(name), 8), mnist.test[:20])
        native = tw.reference(q, mnist.test[:20], precision="int8")
        np.testing.assert_array_equal(result.outputs, native.integers)

    assert "pandas" not in sys.modules
    try:
        result.layers  # noqa: B018
    except ImportError as error:
        assert "tilewave[pandas]" in str(error)
    else:
        raise AssertionError("pandas is installed; this environment should have NumPy alone")
    print(f"tilewave {tw.__version__} works in {sys.prefix}")


if __name__ == "__main__":
    main()
