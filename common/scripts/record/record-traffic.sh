#!/usr/bin/env bash
# Records what L1, L2 and DRAM move for the naive kernels, with Nsight Compute:
#   common/scripts/record/record-traffic.sh [N[:K]...]      default: 512 2048 2048:2049; writes docs/results/traffic-<gpu>.json
# Needs a GPU, nvcc, ncu and the right to read counters. ncu empties the caches before each kernel.
# common/scripts/record/update-results.py then writes the table of chapter 01's page.
set -euo pipefail
cd "$(dirname "$0")/../../.."
[ $# -gt 0 ] || set -- 512 2048 2048:2049
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
cuda=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
file=${OUT_FILE:-docs/results/traffic-$(tr 'A-Z ' 'a-z-' <<<"$gpu").json}
nvcc -std=c++17 -O3 -arch=native chapters/01_naive_matmul/traffic.cu -o "$work/traffic"
"$work/traffic" "$@" >"$work/names"

# Not every GPU has every counter: ask first.
wanted="l1tex__t_requests_pipe_lsu_mem_global_op_ld l1tex__t_sectors_pipe_lsu_mem_global_op_ld
  l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld
  l1tex__data_pipe_lsu_wavefronts l1tex__data_bank_conflicts_pipe_lsu lts__t_sectors_srcunit_tex_op_read dram__bytes_read dram__bytes_write gpu__time_duration"
ncu --query-metrics >"$work/known" 2>/dev/null
metrics=
for metric in $wanted; do
  if grep -qE "^$metric( |$)" "$work/known"; then metrics+=${metrics:+,}$metric.sum; else echo "no counter $metric" >&2; fi
done

ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" -k regex:naive_matmul \
  "$work/traffic" "$@" |
  awk -v names="$work/names" -v gpu="$gpu" -v driver="$driver" -v cuda="$cuda" -v commit="${TILEWISE_COMMIT:-$(git describe --always --dirty)}" '
    function cells(line, out) { sub(/^"/, "", line); sub(/"\r?$/, "", line); return split(line, out, /","/) }
    BEGIN { printf "{\n \"gpu\": \"%s\",\n \"driver\": \"%s\",\n \"cuda\": \"%s\",\n \"commit\": \"%s\",\n \"rows\": [", gpu, driver, cuda, commit }
    /^"ID",/ { columns = cells($0, head); next }
    columns && /^"[0-9]/ {
      cells($0, row)
      getline name < names
      split(name, part, " ")
      printf "%s\n  {\"kernel\": \"%s\", \"n\": %d, \"block\": %d, \"k\": %d, \"counters\": {", launches++ ? "," : "", part[1], part[2], part[3], part[4]
      printed = 0
      for (i = 1; i <= columns; i++) {
        if (head[i] !~ /^(l1tex|lts|dram|gpu)__.*\.sum$/) continue  # ncu adds some of its own
        value = row[i]; gsub(/,/, "", value); sub(/\.0+$/, "", value)
        printf "%s\n    \"%s\": %s", printed++ ? "," : "", head[i], value
      }
      printf "}}"
    }
    END { print "\n ]\n}" }' >"$work/json"
grep -q '"kernel"' "$work/json" || { echo "record-traffic: ncu gave no counters" >&2; exit 1; }
mv "$work/json" "$file"
echo "$file"
