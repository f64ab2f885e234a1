#!/usr/bin/env bash
# Records what this machine's GPU measures, all chapters, into docs/results/<gpu>.json:
#   common/scripts/record-results.sh [build/gpu/bin] [FILE]
# With build/sim/bin, what the simulator counts: docs/results/simulated-<gpu>.json. `make compare` uses both.
# Commit first: the file names the commit. common/scripts/update-results.py then writes the tables of the pages.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
programs=$(cd "${1:-$root/build/gpu/bin}" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
separator='{"runs": ['
for program in "$programs"/[0-9][0-9]_*; do
  name=$(basename "$program")
  echo "$name" >&2
  PATH=$programs:$PATH "$name" --json part.json >&2
  { echo "$separator"; cat part.json; } >>all.json
  separator=,
done
echo ']}' >>all.json
# The machine's own name, as the programs wrote it: "machine": { "name": "NVIDIA H200", ...
gpu=$(sed -n '/"machine": {/,/}/s/^ *"name": "\(.*\)",$/\1/p' all.json | head -n 1)
file=${2:-$root/docs/results/$(tr 'A-Z ' 'a-z-' <<<"$gpu").json}
mv all.json "$file"
echo "$file" >&2
