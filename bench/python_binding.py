"""What the Python package adds to a simulation: `tilewave.simulate` against the same work inside
of it, and against the command, on 10,000 images.

The engine's own wall time, which the result carries under `host`, is taken from the same call, so
that the machine's noise is in both figures. The ratio of the medians is the last line.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

import tilewave as tw

LARGEST_RATIO = 1.02


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tilewave", help="the command to compare with")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    data = tw.datasets.mnist()
    q = tw.quantize(tw.load_model("mnist_cnn"), data.calibration)
    program = tw.compile(q, tw.Chip.load("tpu_v1"), 256)
    runs = []
    for _ in range(options.repeats):
        start = time.perf_counter()
        result = tw.simulate(program, data.test, threads=1)
        outputs = result.outputs
        call = time.perf_counter() - start
        assert outputs.shape == (10_000, 10)
        engine = result.to_dict()["host"]["simulate_seconds"]
        words = [options.tilewave, "run", "--no-reference", "--threads", "1", "--json", "-"]
        command = json.loads(subprocess.run(words, check=True, capture_output=True).stdout)
        runs.append(
            {
                "call_seconds": call,
                "engine_seconds": engine,
                "ratio": call / engine,
                "command_simulate_seconds": command["host"]["simulate_seconds"],
            }
        )
    summary = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
    json.dump({"repeats": runs, "median": summary}, sys.stdout, indent=2)
    print(f"\nbinding / engine: {summary['ratio']:.4f}", file=sys.stderr)
    if summary["ratio"] > LARGEST_RATIO:
        sys.exit(f"the binding adds more than {LARGEST_RATIO - 1:.0%}")


if __name__ == "__main__":
    main()
