#!/usr/bin/env bash
# Puts the full MNIST training set into a folder, as gzip IDX files.
set -euo pipefail

usage="usage: fetch_mnist.sh [--from DIR] [DEST]"
mirrors=(
  "https://ossci-datasets.s3.amazonaws.com/mnist"
  "https://storage.googleapis.com/cvdf-datasets/mnist"
)
# SHA-256 of the uncompressed file, and its name: mirrors compress differently.
files=(
  "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db train-images-idx3-ubyte"
  "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 train-labels-idx1-ubyte"
)

fail() {
  echo "fetch_mnist.sh: $2" >&2
  exit "$1"
}

# Holds for a file that unpacks to the given SHA-256.
has_sum() {
  [[ "$(gzip -dc -- "$1" 2>/dev/null | sha256sum)" == "$2  -" ]]
}

# Copies one file to the given path, or tries each mirror until one yields the right bytes.
get() {
  local name=$1 sum=$2 path=$3
  if [[ -n "$from" ]]; then
    [[ -f "$from/$name.gz" ]] || fail 1 "$from/$name.gz: no such file"
    cp -- "$from/$name.gz" "$path" || fail 1 "$from/$name.gz: cannot be copied"
    has_sum "$path" "$sum" || fail 1 "$from/$name.gz: wrong SHA-256 of the uncompressed file"
    return
  fi
  local mirror
  for mirror in "${mirrors[@]}"; do
    if curl --fail --silent --location --proto '=https' --proto-redir '=https' \
      --connect-timeout 15 --max-time 300 --output "$path" "$mirror/$name.gz" &&
      has_sum "$path" "$sum"; then
      return
    fi
  done
  fail 1 "$name.gz: no mirror gave the right file; copy it yourself and use --from DIR"
}

from=""
dest=""
while (($# > 0)); do
  case "$1" in
    --from)
      [[ -n "${2:-}" ]] || fail 2 "--from needs a folder; $usage"
      from=$2
      shift
      ;;
    -h | --help)
      echo "$usage"
      exit 0
      ;;
    -*) fail 2 "unknown option $1; $usage" ;;
    "") fail 2 "DEST is empty; $usage" ;;
    *)
      [[ -z "$dest" ]] || fail 2 "one DEST only, not also $1; $usage"
      dest=$1
      ;;
  esac
  shift
done
if [[ -z "$dest" ]]; then
  dest="$(dirname -- "${BASH_SOURCE[0]}")/../models/data/mnist/full"
fi
if [[ -n "$from" && ! -d "$from" ]]; then
  fail 1 "$from: no such folder"
fi

mkdir -p -- "$dest" 2>/dev/null || fail 1 "$dest: cannot be created"
aside="$(mktemp -d -- "$dest/.fetch.XXXXXX" 2>/dev/null)" || fail 1 "$dest: cannot be written"
trap 'rm -rf -- "$aside"' EXIT
for file in "${files[@]}"; do
  read -r sum name <<<"$file"
  if [[ ! -f "$dest/$name.gz" ]] || ! has_sum "$dest/$name.gz" "$sum"; then
    get "$name" "$sum" "$aside/$name.gz"
    chmod 644 -- "$aside/$name.gz"
    mv -f -- "$aside/$name.gz" "$dest/$name.gz"
  fi
done
echo "The MNIST training set is in $dest"
