#!/usr/bin/env bash
# Runs the tilewave commands that README.md shows (lines of its ```sh blocks that start with
# build/release/tilewave) and fails if one fails. They run in a folder of their own, so that the
# files they write do not land in the tree.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for entry in build configs models; do
  ln -s "$root/$entry" "$scratch/$entry"
done
cd "$scratch"

count=0
while IFS= read -r line; do
  echo "check_readme.sh: $line"
  bash -c "$line" >output.log 2>&1 </dev/null || {
    cat output.log
    echo "check_readme.sh: README.md's command failed: $line" >&2
    exit 1
  }
  count=$((count + 1))
done < <(sed -n '/^```sh$/,/^```$/p' "$root/README.md" | grep '^build/release/tilewave')
[ "$count" -gt 0 ] || {
  echo "check_readme.sh: found no command in README.md" >&2
  exit 1
}
echo "check_readme.sh: $count commands run"
