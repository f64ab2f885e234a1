#!/usr/bin/env bash
# Records what L1 asks L2 for in the kernels of lesson 06, and how busy L2 and DRAM are, with Nsight Compute:
#   common/scripts/record/record-spmv.sh [PROGRAM]     default: build/gpu/bin/06_csr_spmv; writes docs/results/spmv-<gpu>.json (or $OUT_FILE)
# Needs a GPU, the preset gpu, ncu and the right to read counters. ncu empties the caches before each kernel.
# common/scripts/record/update-results.py then writes the table of chapter 06's page.
set -euo pipefail
cd "$(dirname "$0")/../../.."
program=${1:-build/gpu/bin/06_csr_spmv}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
cuda=$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
file=${OUT_FILE:-docs/results/spmv-$(tr 'A-Z ' 'a-z-' <<<"$gpu").json}
metrics=gpu__time_duration.sum,lts__t_requests_srcunit_tex.sum,lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed
metrics+=,l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum
metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed
for matrix in stencil2d uniform rmat zipf dense_row; do
  # The first launch of each kernel; the others are repetitions.
  ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" \
    --kernel-id '::regex:(spmv_unrolled|spmv_balanced|csrmv_v3_kernel):1' \
    "$program" --generate "$matrix" --n 2097152 --repeat 1 |
    awk -v matrix="$matrix" '
      function cells(line, out) { sub(/^"/, "", line); sub(/"\r?$/, "", line); return split(line, out, /","/) }
      /^"ID",/ { columns = cells($0, head); next }
      columns && /^"[0-9]/ {
        cells($0, row)
        for (i = 1; i <= columns; i++) if (head[i] == "Kernel Name") name = row[i]
        sub(/^void /, "", name); sub(/\(.*/, "", name); sub(/,? ?float.*/, "", name)
        sub(/cusparse::csrmv_v3_kernel<std::integral_constant<bool, 0>.*/, "cusparseSpMV ALG1", name)
        sub(/cusparse::csrmv_v3_kernel<std::integral_constant<bool, 1>.*/, "cusparseSpMV ALG2", name)
        sub(/<$/, "", name); if (name ~ /<[0-9]+$/) name = name ">"
        printf "  {\"matrix\": \"%s\", \"kernel\": \"%s\", \"counters\": {", matrix, name
        printed = 0
        for (i = 1; i <= columns; i++) {
          if (head[i] !~ /^(gpu__time_duration|lts__t_requests_srcunit_tex|l1tex__t_sectors_pipe_lsu_mem_global_op_ld(_lookup_hit)?)\.sum$|__(t_tag_requests|throughput)\.avg\.pct_of_peak_sustained_elapsed$/) continue
          value = row[i]; gsub(/,/, "", value); sub(/\.0+$/, "", value)
          printf "%s\"%s\": %s", printed++ ? ", " : "", head[i], value
        }
        print "}}"
      }' >>"$work/rows"
done
grep -q '"kernel"' "$work/rows" || { echo "record-spmv: ncu gave no counters" >&2; exit 1; }
{
  printf '{\n "gpu": "%s",\n "driver": "%s",\n "cuda": "%s",\n "commit": "%s",\n "rows": [\n' "$gpu" "$driver" "$cuda" \
    "${TILEWISE_COMMIT:-$(git describe --always --dirty)}"
  sed '$!s/$/,/' "$work/rows"
  printf ' ]\n}\n'
} >"$work/json"
mv "$work/json" "$file"
echo "$file"
