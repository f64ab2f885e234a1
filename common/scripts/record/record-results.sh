#!/usr/bin/env bash
# Records what this machine's GPU measures, all chapters, into docs/results/<gpu>.json:
#   common/scripts/record/record-results.sh [build/gpu/bin] [FILE]
# With build/sim/bin, what the simulator counts: docs/results/simulated-<gpu>.json. `make compare` uses both.
# Lesson 05's whole sweeps, every stride and offset, go into a file of their own beside it, <gpu>-05-sweeps.json, and the
# pictures of them into <gpu>-05-stride.svg and <gpu>-05-offset.svg (where there are Python and gnuplot). On a GPU lesson 06
# runs again with double values, into <gpu>-06-double.json, and lesson 17, which is Python, writes python-<gpu>.json.
# Commit first: the file names the commit. common/scripts/record/update-results.py then writes the tables of the pages.
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
programs=$(cd "${1:-$root/build/gpu/bin}" && pwd)
wanted=${2:+$(realpath "$2")}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
status=0
separator='{"runs": ['
for program in "$programs"/[0-9][0-9]_*; do
  name=$(basename "$program")
  [ ! -e "$root/chapters/$name/main.py" ] || continue
  started=$SECONDS
  PATH=$programs:$PATH "$name" --json part.json >&2 || { status=1; echo "$name: not all is right" >&2; }
  echo "$name: $((SECONDS - started)) s" >&2
  { echo "$separator"; cat part.json; } >>all.json
  separator=,
done
echo ']}' >>all.json
# The machine's own name, as the programs wrote it: "machine": { "name": "NVIDIA H200", ...
gpu=$(sed -n '/"machine": {/,/}/s/^ *"name": "\(.*\)",$/\1/p' all.json | head -n 1)
file=${wanted:-$root/docs/results/$(tr 'A-Z ' 'a-z-' <<<"$gpu").json}
mv all.json "$file"
echo "$file" >&2

# Lessons in Python have a file of their own: what they measure depends on Python and its libraries, too.
if [[ $gpu != Simulated* ]]; then
  for program in "$programs"/[0-9][0-9]_*; do
    name=$(basename "$program")
    [ -e "$root/chapters/$name/main.py" ] || continue
    PATH=$programs:$PATH "$name" --json part.json >&2 || { status=1; echo "$name: not all is right" >&2; }
    python=$(dirname "$file")/python-$(basename "$file")
    { echo '{"runs": ['; cat part.json; echo ']}'; } >"$python"
    echo "$python" >&2
  done
fi

if [ -x "$programs/06_csr_spmv" ] && [[ $gpu != Simulated* ]]; then
  started=$SECONDS
  PATH=$programs:$PATH 06_csr_spmv --type double --json part.json >&2 || { status=1; echo "06_csr_spmv --type double: not all is right" >&2; }
  echo "06_csr_spmv --type double: $((SECONDS - started)) s" >&2
  { echo '{"runs": ['; cat part.json; echo ']}'; } >"${file%.json}-06-double.json"
  echo "${file%.json}-06-double.json" >&2
  "$root/common/scripts/record/plot-results.py" "$file" >&2 || echo "The picture of lesson 08's roofline was not drawn." >&2
fi

[ -x "$programs/05_coalescing" ] || exit $status
sweeps=${file%.json}-05-sweeps.json
# So many words that L2 keeps nothing of them from one launch to the next, not even of every 64th: 20 GiB of arrays.
size=(--n 536870912 --repeat 30)
case $gpu in Simulated*) size=() ;; esac
echo "05_coalescing, every stride and offset" >&2
PATH=$programs:$PATH 05_coalescing --part sweeps --full --width 1,4 ${size[@]+"${size[@]}"} --json part.json >&2
sed 's/^ *//' part.json | tr '\n' ' ' >"$sweeps"
echo >>"$sweeps"
echo "$sweeps" >&2
"$root/common/scripts/record/plot-results.py" "$sweeps" >&2 || echo "The pictures of $sweeps were not drawn." >&2
exit $status
