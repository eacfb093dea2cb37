#!/usr/bin/env bash
# Makes .venv and installs the given requirement files into it; does nothing if that was done.
# Usage: scripts/setup_python.sh REQUIREMENTS.txt...
set -euo pipefail
cd "$(dirname "$0")/.."

[ -x .venv/bin/pip ] || python3 -m venv .venv
for requirements in "$@"; do
  stamp=.venv/$(basename "$requirements").installed
  if ! cmp -s "$requirements" "$stamp"; then
    echo "setup_python.sh: installing $requirements into .venv"
    .venv/bin/pip install --disable-pip-version-check --quiet -r "$requirements"
    cp "$requirements" "$stamp"
  fi
done
