#!/usr/bin/env bash
# Records what L1 asks for and what DRAM moves in the kernels of lesson 05, with Nsight Compute:
#   common/scripts/record/record-dram.sh        writes docs/results/dram-<gpu>.json (or $OUT_FILE)
# Needs a GPU, nvcc, ncu and the right to read counters. ncu empties the caches before each kernel.
# common/scripts/record/update-results.py then writes the table of chapter 05's page.
set -euo pipefail
cd "$(dirname "$0")/../../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
cuda=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
file=${OUT_FILE:-docs/results/dram-$(tr 'A-Z ' 'a-z-' <<<"$gpu").json}
nvcc -std=c++17 -O3 -arch=native --expt-relaxed-constexpr chapters/05_coalescing/traffic.cu -o "$work/traffic"
"$work/traffic" >"$work/names"
load=l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
store=l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
ncu --clock-control none --csv --page raw --print-units base \
  --metrics "$load,$store,dram__bytes_read.sum,dram__bytes_write.sum,gpu__time_duration.sum" "$work/traffic" >"$work/csv"
awk -v names="$work/names" -v gpu="$gpu" -v driver="$driver" -v cuda="$cuda" -v commit="${TILEWISE_COMMIT:-$(git describe --always --dirty)}" '
  function cells(line, out) { sub(/^"/, "", line); sub(/"\r?$/, "", line); return split(line, out, /","/) }
  BEGIN { printf "{\n \"gpu\": \"%s\",\n \"driver\": \"%s\",\n \"cuda\": \"%s\",\n \"commit\": \"%s\",\n \"rows\": [", gpu, driver, cuda, commit }
  /^"ID",/ { columns = cells($0, head); next }
  columns && /^"[0-9]/ {
    cells($0, row)
    if ((getline name < names) <= 0) exit 1
    split(name, part, "|")
    printf "%s\n  {\"kernel\": \"%s\", \"what\": \"%s\", \"words\": %d, \"counters\": {", launches++ ? "," : "", part[1], part[2], part[3]
    printed = 0
    for (i = 1; i <= columns; i++) {
      if (head[i] !~ /^(l1tex|dram|gpu)__.*\.sum$/) continue  # ncu adds some of its own
      value = row[i]; gsub(/,/, "", value); sub(/\.0+$/, "", value)
      printf "%s\n    \"%s\": %s", printed++ ? "," : "", head[i], value
    }
    printf "}}"
  }
  END { print "\n ]\n}" }' "$work/csv" >"$work/json"
grep -q '"kernel"' "$work/json" || { echo "record-dram: ncu gave no counters" >&2; exit 1; }
mv "$work/json" "$file"
echo "$file"
