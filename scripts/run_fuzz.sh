#!/usr/bin/env bash
# Runs every fuzz target of the fuzz preset, starting from the seeds in the repository.
# Usage: scripts/run_fuzz.sh [SECONDS per target]
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}

targets=(build/fuzz/fuzz_*)
[ -x "${targets[0]}" ] || {
  echo "run_fuzz.sh: no targets in build/fuzz; run: cmake --workflow --preset fuzz" >&2
  exit 1
}
for target in "${targets[@]}"; do
  name=${target##*/fuzz_}
  corpus=build/fuzz/corpus/$name
  mkdir -p "$corpus"
  echo "run_fuzz.sh: $name for $seconds s"
  "$target" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 \
    -verbosity=0 -artifact_prefix="build/fuzz/$name-" "$corpus" "tests/fuzz/seeds/$name"
done
echo "run_fuzz.sh: ${#targets[@]} targets, no finding"
