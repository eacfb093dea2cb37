"""Experiments: points per minute of the bit-width study, beside ONNX Runtime running the network as
often; and a sweep of 1,000 chips with one job and with two.

The subjects take turns. Prints JSON; README.md beside this file says what each figure is.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
from pathlib import Path

from measure import measure
from run_vs_onnxruntime import DATA, MODEL, PEER, ROOT, peer

STUDY = ROOT / "configs/studies/bit_widths.yaml"
STUDY_POINTS = 49
SIDES = [8, 16, 24, 32, 48, 64, 96, 128, 192, 256]
BANDWIDTHS = [1, 2, 4, 8, 17, 34, 68, 136, 272, 544]
SWEEP = f"""
vary:
  array.rows: {SIDES}
  array.cols: {SIDES}
  weight_memory.bandwidth_gb_per_s: {BANDWIDTHS}
"""
SWEEP_POINTS = len(SIDES) ** 2 * len(BANDWIDTHS)
JOBS = (1, 2)


def explore(command, kind, experiment, jobs):
    """One run into an empty folder. Adds the bytes of its table."""
    with tempfile.TemporaryDirectory() as folder:
        words = [command, kind, experiment, "-o", folder, "--jobs", jobs, "--quiet"]
        run = measure(words)
        return run | {"table": (Path(folder) / "results.csv").read_bytes()}


def same_tables(runs):
    tables = {run.pop("table") for run in runs}
    if len(tables) != 1:
        raise RuntimeError("the same experiment gave different tables")
    return tables.pop()


def median(runs, key):
    return statistics.median(run[key] for run in runs)


def study(command, models, repeats):
    """By number of jobs, and of ONNX Runtime's threads."""
    ours = {jobs: [] for jobs in JOBS}
    theirs = {jobs: {name: [] for name in models} for jobs in JOBS}
    for repeat in range(repeats):
        print(f"study, repeat {repeat + 1} of {repeats}", file=sys.stderr)
        for jobs in JOBS:
            ours[jobs].append(explore(command, "study", STUDY, jobs))
            for name, model in models.items():
                theirs[jobs][name].append(peer(model, jobs))
    table = same_tables([run for runs in ours.values() for run in runs])
    if len(table.splitlines()) != STUDY_POINTS + 1:
        raise RuntimeError(f"the study has not {STUDY_POINTS} points")
    figures = {}
    for jobs in JOBS:
        inference = min(
            (median(runs, "inference_wall_seconds"), name) for name, runs in theirs[jobs].items()
        )[1]
        pairs = zip(ours[jobs], theirs[jobs][inference])
        figures[jobs] = {
            "wall_seconds": median(ours[jobs], "wall_seconds"),
            "cpu_seconds": median(ours[jobs], "cpu_seconds"),
            "points_per_minute_and_core": STUDY_POINTS
            * 60
            / median(ours[jobs], "wall_seconds")
            / jobs,
            "peer": inference,
            "point / inference": statistics.median(
                a["wall_seconds"] / STUDY_POINTS / b["inference_wall_seconds"] for a, b in pairs
            ),
        }
    return figures


def sweep(command, repeats):
    with tempfile.TemporaryDirectory() as folder:
        experiment = Path(folder) / "thousand.yaml"
        experiment.write_text(SWEEP)
        runs = {jobs: [] for jobs in JOBS}
        for repeat in range(repeats):
            print(f"sweep, repeat {repeat + 1} of {repeats}", file=sys.stderr)
            for jobs in JOBS:
                runs[jobs].append(explore(command, "sweep", experiment, jobs))
    same_tables([run for measured in runs.values() for run in measured])
    return {
        "points": SWEEP_POINTS,
        "wall_seconds": {jobs: median(runs[jobs], "wall_seconds") for jobs in JOBS},
        "cpu_seconds": {jobs: median(runs[jobs], "cpu_seconds") for jobs in JOBS},
        "speed_up": statistics.median(
            one["wall_seconds"] / two["wall_seconds"] for one, two in zip(runs[1], runs[2])
        ),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tilewave", help="the command to measure")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        prepared = measure([sys.executable, PEER, "prepare", MODEL, DATA, scratch])
        models = json.loads(prepared["output"])
        results = {
            "study": study(options.tilewave, models, options.repeats),
            "sweep": sweep(options.tilewave, options.repeats),
            "load_average": os.getloadavg(),
        }
    json.dump(results, sys.stdout, indent=2)


if __name__ == "__main__":
    main()
