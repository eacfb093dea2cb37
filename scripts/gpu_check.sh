#!/usr/bin/env bash
# Usage: scripts/gpu_check.sh [--build | --run]
# Builds what a GPU needs, runs every GPU test and the comparison table, and leaves log, text, JSON
# and CSV in one folder: $OUT if it is set, else build/gpu-check. Where there is no GPU it says so
# after the build and the tests that need none, and fails.
# For a machine with a GPU and without the libraries that a build needs: --build elsewhere, copy the
# tree with build/gpu/bundle, --run there. CUDA_ARCHITECTURE: of that GPU (90 for 9.0).
set -euo pipefail
cd "$(dirname "$0")/.."

steps=${1:---all}
case "$steps" in --all | --build | --run) ;; *)
  echo "gpu_check.sh: unknown option $steps; allowed: --build --run" >&2
  exit 2
  ;;
esac
build=build/gpu
bundle=$build/bundle
out=${OUT:-build/gpu-check}
mkdir -p "$out"
exec > >(tee -a "$out/gpu-check.log") 2>&1

step() { echo "gpu_check.sh: $*  ($SECONDS s)"; }

# The programs, and the shared libraries that are not the C and C++ compilers' own.
make_bundle() {
  rm -rf "$bundle"
  mkdir -p "$bundle/lib"
  strip -o "$bundle/tilewave" "$build/tilewave"
  strip -o "$bundle/test_cuda" "$build/test_cuda"
  strip -o "$bundle/test_gpu" "$build/test_gpu"
  ldd "$build/tilewave" "$build/test_gpu" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
    grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|libstdc\+\+)\.so' |
    xargs -I{} cp -L {} "$bundle/lib/"
}

build_all() {
  # Only one architecture: a fraction of the time that all of them take.
  local architecture=${CUDA_ARCHITECTURE:-native}
  if [ "$architecture" = native ] && ! nvidia-smi -L 2>/dev/null; then
    architecture=80
  fi
  step "building for CUDA architecture $architecture"
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DTILEWAVE_CUDA=ON \
    -DTILEWAVE_SYSTEMC=OFF -DCMAKE_CUDA_ARCHITECTURES="$architecture" >"$out/configure.log" ||
    { cat "$out/configure.log"; exit 1; }
  cmake --build "$build" --target tilewave test_cuda test_gpu >"$out/build.log" ||
    { tail -n 50 "$out/build.log"; exit 1; }
  make_bundle
}

run_all() {
  export TILEWAVE_DATA=$PWD/models TILEWAVE_CONFIGS=$PWD/configs
  local cuda
  cuda=$(dirname "$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)")/../lib64
  export LD_LIBRARY_PATH=$PWD/$bundle/lib:$cuda${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

  step "tests on the host"
  "$bundle/test_cuda"

  "$bundle/tilewave" compare --images 1 --batch 1 --quiet --json "$out/probe.json"
  local missing
  missing=$(python3 -c 'import json, sys
host = json.load(open(sys.argv[1]))["host"]
print("" if host["gpu"] else host["missing"][0]["reason"])' "$out/probe.json")
  rm "$out/probe.json"
  if [ -n "$missing" ]; then
    echo "gpu_check.sh: nothing was run on a GPU: $missing"
    exit 1
  fi
  nvidia-smi --query-gpu=name,driver_version,clocks.max.sm,clocks.max.mem --format=csv || true

  local failed=0
  step "tests on the GPU"
  "$bundle/test_gpu" --durations yes || failed=1
  step "comparison"
  "$bundle/tilewave" compare --batch 1,16,64,256,512,1024 --roofline \
    --json "$out/compare.json" --csv "$out/compare.csv" | tee "$out/compare.txt"
  step "done, $([ "$failed" = 0 ] && echo "all tests passed" || echo "tests FAILED"): see $out"
  exit "$failed"
}

if [ "$steps" != --run ]; then build_all; fi
if [ "$steps" != --build ]; then run_all; fi
