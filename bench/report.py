"""Joins the benchmarks' JSON files in FOLDER into its results.json and prints them as a table.

report.py FOLDER
"""

import json
import math
import statistics
import sys
from pathlib import Path

PARTS = ("load", "compile", "simulate", "reference", "inference", "with_set_up")


def slope(points):
    """Exponent b of the least-squares fit time = a * instructions^b; 1 is linear growth."""
    xs, ys = zip(*((math.log(x), math.log(y)) for x, y in points))
    x_mean, y_mean = sum(xs) / len(xs), sum(ys) / len(ys)
    covariance = sum((x - x_mean) * (y - y_mean) for x, y in zip(xs, ys))
    return covariance / sum((x - x_mean) ** 2 for x in xs)


def timeline_figures(benchmark):
    """Per series: processor nanoseconds per instruction at each size, and how the time grows."""
    series = {}
    for entry in benchmark["benchmarks"]:
        name = entry["name"].split("/")[0].removeprefix("BM_")
        series.setdefault(name, []).append((entry["instructions"], entry["cpu_time"]))
    return {
        name: {
            "instructions": [n for n, _ in points],
            "ns_per_instruction": [time / n for n, time in points],
            "growth_exponent": slope(points),
        }
        for name, points in series.items()
    }


def medians(benchmark, figure):
    """Per benchmark, the median of a figure over the repeats; for those that have it."""
    runs = {}
    for entry in benchmark["benchmarks"]:
        if entry["run_type"] == "iteration" and figure in entry:
            runs.setdefault(entry["run_name"].removeprefix("BM_"), []).append(entry[figure])
    return {name: statistics.median(values) for name, values in runs.items()}


def systemc_figures(benchmark):
    macs = medians(benchmark, "macs_per_second")
    times = medians(benchmark, "cpu_time")
    figures = {
        "pe_cycles_per_second": {
            name.removeprefix("pe/"): rate
            for name, rate in medians(benchmark, "cycles_per_second").items()
        },
        "macs_per_second": macs,
        "tile_events_per_second": medians(benchmark, "events_per_second")["tile_million"],
        "tile_to_timeline": times["tile_million"] / times["timeline_million"],
    }
    if "rtl" in macs:
        figures["pe_to_rtl"] = {
            name.removeprefix("pe/"): rate / macs["rtl"]
            for name, rate in macs.items()
            if name != "rtl"
        }
    return figures


def print_comparison(comparison):
    print(f"\n10,000 images, {comparison['threads']} thread(s), medians of {comparison['repeats']}")
    print(f"  {'':26}{'wall s':>9}{'cpu s':>9}{'peak MiB':>10}{'accuracy':>10}")
    for name, run in comparison["subjects"].items():
        print(
            f"  {name:26}{run['wall_seconds']:9.3f}{run['cpu_seconds']:9.3f}"
            f"{run['peak_bytes'] / 2**20:10.0f}{run['accuracy']:10.4f}"
        )
        for part in PARTS:
            if f"{part}_wall_seconds" in run:
                cpu = run.get(f"{part}_cpu_seconds")
                cpu = "" if cpu is None else f"{cpu:9.3f}"
                print(f"    {part:24}{run[f'{part}_wall_seconds']:9.3f}{cpu}")
    print(f"  {'ratio to ' + comparison['peer']:44}{'wall':>7}{'cpu':>9}")
    for name, ratio in comparison["ratios"].items():
        cpu = f"{ratio['cpu']:9.2f}" if "cpu" in ratio else ""
        print(f"    {name:42}{ratio['wall']:7.2f}{cpu}")


def print_memory(memory):
    print(f"\nPeak memory; the peer's process: {memory['peer_peak_bytes'] / 2**20:.0f} MiB")
    for array, run in memory["arrays"].items():
        print(f"  array {array:10}{run['peak_bytes'] / 2**20:8.0f} MiB, ratio {run['ratio']:.2f}")


def print_timeline(timeline):
    print("\nProcessor time per instruction, ns, by number of instructions")
    for name, figures in timeline.items():
        print(f"  {name} (grows with exponent {figures['growth_exponent']:.3f})")
        for count, ns in zip(figures["instructions"], figures["ns_per_instruction"]):
            print(f"    {count:12,.0f}{ns:9.0f}")


def print_systemc(systemc):
    print("\nSystemC engine, processor time")
    for side, rate in sorted(
        systemc["pe_cycles_per_second"].items(), key=lambda item: int(item[0])
    ):
        print(f"  pe, {side} x {side}: {rate:12,.0f} cycles/s", end="")
        print(f"{systemc['macs_per_second'][f'pe/{side}'] / 1e9:8.2f} G MAC/s", end="")
        if "pe_to_rtl" in systemc:
            print(f"{systemc['pe_to_rtl'][side]:8.1f} times the RTL in Verilator", end="")
        print()
    print(f"  tile: {systemc['tile_events_per_second']:,.0f} events/s", end="; ")
    print(f"a million instructions take {systemc['tile_to_timeline']:.1f} times timeline's time")


def print_cpu_paths(paths):
    print(f"\nCPU paths over ONNX Runtime {paths['onnxruntime']}, time per batch, same threads")
    for row in paths["rows"]:
        print(f"  {row['model']:10} {row['precision']:5} {row['threads']} threads,", end=" ")
        print(f"batch {row['batch']:4}: {row['ratio']:6.2f}")


def print_experiments(experiments):
    print("\nThe bit-width study, 49 points of 10,000 images")
    for jobs, study in experiments["study"].items():
        print(f"  {jobs} job(s): {study['wall_seconds']:.1f} s,", end=" ")
        print(f"{study['points_per_minute_and_core']:.0f} points per minute and core;", end=" ")
        print(f"a point takes {study['point / inference']:.2f} of ONNX Runtime's inference")
    sweep = experiments["sweep"]
    seconds = ", ".join(f"{s:.1f} s with {n} job(s)" for n, s in sweep["wall_seconds"].items())
    print(f"A sweep of {sweep['points']} chips, timing only: {seconds}", end="; ")
    print(f"two jobs are {sweep['speed_up']:.2f} times as fast")


def print_binding(binding):
    print(f"\nThe Python package's call over the engine inside: {binding['median']['ratio']:.4f}")


def main():
    folder = Path(sys.argv[1])

    def read(name):
        return json.loads((folder / f"{name}.json").read_text())

    results = read("run_vs_onnxruntime") | {
        "timeline": timeline_figures(read("timeline")),
        "cpu_paths": read("cpu_vs_onnxruntime"),
        "systemc": systemc_figures(read("systemc")),
        "experiments": read("experiments"),
        "python_binding": read("python_binding"),
    }
    (folder / "results.json").write_text(json.dumps(results, indent=2))
    load = results["load_average"]
    print(f"{results['cores']} cores; load average {load['before'][0]:.1f} before,", end=" ")
    print(f"{load['after'][0]:.1f} after")
    for comparison in results["comparisons"]:
        print_comparison(comparison)
    print_cpu_paths(results["cpu_paths"])
    print_experiments(results["experiments"])
    print_binding(results["python_binding"])
    print_memory(results["memory"])
    print_timeline(results["timeline"])
    print_systemc(results["systemc"])


if __name__ == "__main__":
    main()
