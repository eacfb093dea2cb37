#!/usr/bin/env bash
# Installs what the build needs and the machine lacks (Debian 12, Ubuntu 22.04 and 24.04).
# Usage: scripts/install_deps.sh [--tests] [--bench] [--fuzz] [--lint]
# Run again it changes nothing. Prints what it installs.
set -euo pipefail
cd "$(dirname "$0")/.."

needed=(
  g++ cmake ninja-build ccache git python3 python3-dev python3-venv
  libeigen3-dev libspdlog-dev libfmt-dev libyaml-cpp-dev nlohmann-json3-dev libcli11-dev
  libprotobuf-dev protobuf-compiler libonnx-dev zlib1g-dev libsystemc-dev
  libsqlite3-dev libxxhash-dev
)
# The build finds out by itself whether these are there.
optional=(libdnnl-dev)

for option in "$@"; do
  case "$option" in
    --tests)
      needed+=(catch2 librapidcheck-dev libbenchmark-dev)
      optional+=(verilator chromium)
      ;;
    --bench)
      needed+=(libbenchmark-dev)
      optional+=(verilator)
      ;;
    --fuzz) needed+=(clang-14 libclang-rt-14-dev) ;;
    --lint) needed+=(clang-format clang-tidy) ;;
    *)
      echo "install_deps.sh: unknown option $option; allowed: --tests --bench --fuzz --lint" >&2
      exit 2
      ;;
  esac
done

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "install_deps.sh: no apt-get here; install the equivalents of: ${needed[*]} ${optional[*]}"
  exit 0
fi

installed() {
  [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}
available() {
  [ -n "$(apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: *//p' | grep -v '(none)')" ]
}

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  as_root=(sudo)
fi
apt() {
  # A mirror that hiccups once is asked once more.
  local command=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 "$@")
  "${command[@]}" || {
    echo "install_deps.sh: apt-get $1 failed, trying once more in 10 s" >&2
    sleep 10
    "${command[@]}"
  }
}

missing=()
for package in "${needed[@]}" "${optional[@]}"; do
  installed "$package" || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  if [ ${#as_root[@]} -gt 0 ] && ! command -v sudo >/dev/null; then
    echo "install_deps.sh: packages are missing; as root run: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  apt update
  wanted=()
  for package in "${missing[@]}"; do
    if available "$package"; then
      wanted+=("$package")
    elif [[ " ${optional[*]} " == *" $package "* ]]; then
      echo "install_deps.sh: $package is not offered here; going on without it"
    else
      echo "install_deps.sh: $package is needed and this distribution does not offer it" >&2
      exit 1
    fi
  done
  if [ ${#wanted[@]} -gt 0 ]; then
    echo "install_deps.sh: installing ${wanted[*]}"
    apt install -y --no-install-recommends "${wanted[@]}"
  fi
fi

# Ubuntu 22.04 ships a CMake without workflow presets; .venv then holds a newer one.
cmake_is_new_enough() {
  local version
  version=$("$1" --version 2>/dev/null | sed -n 's/^cmake version //p')
  [ "$(printf '3.25\n%s\n' "${version:-0}" | sort -V | head -n 1)" = 3.25 ]
}
if ! cmake_is_new_enough cmake && ! cmake_is_new_enough .venv/bin/cmake; then
  echo "install_deps.sh: the distribution's cmake is older than 3.25; installing one into .venv"
  scripts/setup_python.sh python/requirements-cmake.txt
fi
