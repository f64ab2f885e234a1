#!/usr/bin/env bash
# check-rules.sh [--write] EXPLORER_VECTORS: the rules of the site's explorers (docs/explorers/rules.js) on vectors that the simulator writes
# now; and whether the report that the site shows as an example, and the pictures for readers without JavaScript, are up to date. Node runs
# it all, or else a browser without a window, which leaves out the pictures. Exit code 1 when anything differs, 77 when there is neither.
# --write: example and pictures are written anew (needs node).
set -u -o pipefail
write=""
if [ "$1" = --write ]; then
  write=--write
  shift
fi
vectors=$(realpath "$1")
cd "$(dirname "$0")/../.." || exit 1
unset TILEWISE_DEVICE TILEWISE_REPORT TILEWISE_COUNT TILEWISE_FINDINGS TILEWISE_SAMPLE
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/vectors"
"$vectors" >"$folder/vectors/h200.json" || exit 1
for device in v100 t4 a100 rtx3090 l4 rtx4090 h100 b200; do
  TILEWISE_DEVICE=$device "$vectors" occupancy >"$folder/vectors/$device.json" || exit 1
done
TILEWISE_REPORT=$folder/report.json "$vectors" example || exit 1
if command -v node >/dev/null; then
  # shellcheck disable=SC2086  # nothing, or one word
  node tests/explorers/check-rules.js $write "$folder/report.json" "$folder"/vectors/*.json || exit
  if [ -n "$write" ]; then node docs/explorers/stills.js; else node docs/explorers/stills.js --check; fi
else
  python3 tests/checks/check-site.py --rules "$folder"
fi
