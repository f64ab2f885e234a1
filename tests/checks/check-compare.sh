#!/usr/bin/env bash
# check-compare.sh: what was recorded a moment ago is what the next run gives, and `make compare` sees a count that has changed.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
exits=$PWD/tests/checks/exits.sh
build sim 01_naive_matmul
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/results" "$work/one"
cp build/sim/bin/01_naive_matmul "$work/one/"
recorded=$work/results/simulated-nvidia-h200.json
common/scripts/record/record-results.sh "$work/one" "$recorded"
export ARGS=01 RESULTS=$work/results
"$exits" 0 '18 rows compared, 0 worse' common/scripts/run/compare.sh
sed -i.old 's/"global_load_sectors": /&1/' "$recorded"
"$exits" 1 '18 rows compared, 18 worse' common/scripts/run/compare.sh
rm "$recorded"
"$exits" 3 'nothing to compare with' common/scripts/run/compare.sh
