"""The whole `tilewave run` against ONNX Runtime on the same network, and the memory of both.

The subjects take turns, one process each, so that a disturbance of the machine meets all of them.
Prints JSON; README.md beside this file says what each figure is.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from measure import measure

ROOT = Path(__file__).resolve().parents[1]
MODEL = ROOT / "models/mnist_cnn.onnx"
DATA = ROOT / "models/data/mnist"
PEER = ROOT / "bench/onnxruntime_peer.py"
THREADS = (1, 2)
PARTS = ("load", "compile", "simulate", "reference")
# Quantized by two different programs, the networks differ in roundings, not in more.
LARGEST_ACCURACY_DIFFERENCE = 0.003


def tilewave(command, threads, *options):
    run = measure([command, "run", "--json", "-", "--threads", threads, *options])
    result = json.loads(run.pop("output"))
    parts = {f"{part}_wall_seconds": result["host"][f"{part}_seconds"] for part in PARTS}
    return run | {"version": result["tilewave_version"], "accuracy": result["accuracy"]} | parts


def peer(model, threads):
    run = measure([sys.executable, PEER, "run", model, DATA, "--threads", threads])
    return run | json.loads(run.pop("output"))


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def summary(runs):
    """Medians over the repeats of all that was measured; the rest from the last one."""
    return runs[-1] | {
        key: median(runs, key) for key, value in runs[0].items() if isinstance(value, float)
    }


def ratios(ours, theirs, their_name):
    """The median over the repeats of ours / theirs, in wall and in processor time."""
    figures = {}
    for clock in ("wall", "cpu"):
        pairs = zip(ours, theirs)
        figures[clock] = statistics.median(
            a[f"{clock}_seconds"] / b[f"{their_name}{clock}_seconds"] for a, b in pairs
        )
    return figures


def compare(command, models, threads, repeats):
    """All subjects with one number of threads."""
    runs = {"tilewave": [], "tilewave_with_reference": []} | {name: [] for name in models}
    for repeat in range(repeats):
        print(f"threads {threads}, repeat {repeat + 1} of {repeats}", file=sys.stderr)
        runs["tilewave"].append(tilewave(command, threads, "--no-reference"))
        runs["tilewave_with_reference"].append(tilewave(command, threads))
        for name, model in models.items():
            runs[name].append(peer(model, threads))
    faster = min(models, key=lambda name: median(runs[name], "inference_wall_seconds"))
    for name in models:
        difference = abs(runs["tilewave"][0]["accuracy"] - runs[name][0]["accuracy"])
        if difference > LARGEST_ACCURACY_DIFFERENCE:
            raise RuntimeError(f"{name}: accuracy differs by {difference:.4f}; too much to compare")
    theirs = runs[faster]
    simulation = [r["simulate_wall_seconds"] for r in runs["tilewave"]]
    return {
        "threads": threads,
        "repeats": repeats,
        "subjects": {name: summary(measured) for name, measured in runs.items()},
        "peer": faster,
        "ratios": {
            f"{ours} / {name or 'process_'}".rstrip("_"): ratios(runs[ours], theirs, name)
            for ours in ("tilewave", "tilewave_with_reference")
            for name in ("inference_", "with_set_up_", "")
        }
        | {
            "simulation / inference": {
                "wall": statistics.median(
                    a / b["inference_wall_seconds"] for a, b in zip(simulation, theirs)
                )
            }
        },
    }


def memory(command, peer_bytes, scratch):
    """Peak memory of `tilewave run` for a small and a large array, against the peer's process."""
    sides = {}
    for side in (8, 256):
        chip = Path(scratch) / f"array_{side}.yaml"
        chip.write_text(f"extends: tpu_v1\nname: array\narray: {{rows: {side}, cols: {side}}}\n")
        run = tilewave(command, 1, "--no-reference", "--chip", chip)
        sides[f"{side}x{side}"] = {
            "peak_bytes": run["peak_bytes"],
            "ratio": run["peak_bytes"] / peer_bytes,
            "wall_seconds": run["wall_seconds"],
        }
    return {"peer_peak_bytes": peer_bytes, "arrays": sides}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tilewave", help="the command to measure")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    load_before = os.getloadavg()
    with tempfile.TemporaryDirectory() as scratch:
        prepared = measure([sys.executable, PEER, "prepare", MODEL, DATA, scratch])
        models = json.loads(prepared["output"])
        comparisons = [compare(options.tilewave, models, n, options.repeats) for n in THREADS]
        first = comparisons[0]
        peer_bytes = first["subjects"][first["peer"]]["peak_bytes"]
        results = {
            "cores": os.cpu_count(),
            "comparisons": comparisons,
            "memory": memory(options.tilewave, peer_bytes, scratch),
            "load_average": {"before": load_before, "after": os.getloadavg()},
        }
    json.dump(results, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
