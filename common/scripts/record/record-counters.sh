#!/usr/bin/env bash
# Records the hardware counters of the validation set with Nsight Compute, as JSON on standard output:
#   common/scripts/record/record-counters.sh build/gpu/bin/validation > docs/results/counters-nvidia-h200.json
# Needs ncu and the right to read counters. Row k of the recording is launch k of tests/simulator/validation/cases.cuh.
set -euo pipefail
program=${1:?usage: record-counters.sh PROGRAM}
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/counter-metrics.sh"
names=$(mktemp)
trap 'rm -f "$names"' EXIT
"$program" --list >"$names"
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
cuda=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
ncu --clock-control none --csv --page raw --print-units base --metrics "$counter_metrics" "$program" |
  awk -v names="$names" -v gpu="$gpu" -v driver="$driver" -v cuda="$cuda" '
    function cells(line, out,   n, i) {           # "a","b","1,024"
      sub(/^"/, "", line); sub(/"\r?$/, "", line)
      n = split(line, out, /","/)
      return n
    }
    BEGIN {
      printf "{\n \"gpu\": \"%s\",\n \"driver\": \"%s\",\n \"cuda\": \"%s\",\n \"launches\": [", gpu, driver, cuda
    }
    /^"ID",/ { columns = cells($0, head); units = 1; next }
    columns && units { units = 0; next }          # the row of units
    columns && /^"[0-9]/ {
      cells($0, row)
      getline name < names
      gsub(/"/, "", name)
      printf "%s\n  {\"case\": \"%s\", \"counters\": {", launches++ ? "," : "", name
      printed = 0
      for (i = 1; i <= columns; i++) {
        if (head[i] !~ /\.sum$/ || head[i] !~ /^(l1tex|smsp)__/) continue
        value = row[i]; gsub(/,/, "", value); sub(/\.0+$/, "", value)
        printf "%s\n    \"%s\": %s", printed++ ? "," : "", head[i], value
      }
      printf "}}"
    }
    END { print "\n ]\n}" }'
