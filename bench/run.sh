#!/usr/bin/env bash
# Runs the benchmarks; prints a table and writes build/bench/results.json.
# Usage: bench/run.sh [REPEATS, 5 by default]
set -euo pipefail
cd "$(dirname "$0")/.."
repeats=${1:-5}

scripts/setup_python.sh python/requirements-test.txt
cmake --preset bench >/dev/null
cmake --build build/bench --target tilewave cpu_bench timeline_bench systemc_bench

out=build/bench
.venv/bin/python bench/run_vs_onnxruntime.py "$out/tilewave" --repeats "$repeats" \
  >"$out/run_vs_onnxruntime.json"
.venv/bin/python bench/cpu_vs_onnxruntime.py "$out/cpu_bench" --repeats "$repeats" \
  >"$out/cpu_vs_onnxruntime.json"
"$out/timeline_bench" --benchmark_min_time=0.2 --benchmark_out="$out/timeline.json" >/dev/null
"$out/systemc_bench" --benchmark_repetitions="$repeats" --benchmark_enable_random_interleaving=true \
  --benchmark_min_time=0.2 --benchmark_out="$out/systemc.json" >/dev/null
.venv/bin/python bench/experiments.py "$out/tilewave" --repeats 3 >"$out/experiments.json"
scripts/build_package.sh
.venv/bin/python bench/python_binding.py "$out/tilewave" --repeats "$repeats" \
  >"$out/python_binding.json"
.venv/bin/python bench/report.py "$out"
