#!/usr/bin/env bash
# Builds the Python package as users get it: an sdist, a wheel from that sdist, both in build/dist.
# Installs the wheel into .venv and, to test it, into an environment that has nothing else.
# Usage: scripts/build_package.sh [WERROR: ON or OFF]
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
werror=${1:-OFF}

rm -rf build/dist build/sdist build/fresh
.venv/bin/python -m build --no-isolation --sdist --outdir build/dist .
mkdir -p build/sdist
tar -xzf build/dist/tilewave-*.tar.gz -C build/sdist --strip-components 1
# ccache finds the objects that the command was linked from, and those of last time: the compiler
# is the one that CMake takes by itself, the build folder lies as build/release does, and pybind11
# is .venv's.
CXX=${CXX:-c++} .venv/bin/python -m build --no-isolation --wheel --outdir build/dist \
  --config-setting=build-dir=build/wheel \
  --config-setting=cmake.define.TILEWAVE_WERROR="$werror" build/sdist
wheel=$(echo build/dist/tilewave-*.whl)

.venv/bin/pip install --disable-pip-version-check --quiet --force-reinstall --no-deps "$wheel"

python3 -m venv build/fresh
build/fresh/bin/pip install --disable-pip-version-check --quiet "$wheel"
(cd / && "$root/build/fresh/bin/python" "$root/tests/package/check_installed.py" \
  "$root/build/fresh/bin/tilewave")
.venv/bin/auditwheel show "$wheel"
