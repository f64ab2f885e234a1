#!/usr/bin/env bash
# What Nsight Compute says a lesson's kernels wait for, as JSON on standard output:
#   common/scripts/record/record-stalls.sh build/gpu/bin/12_past_cublas 4096 4097 > docs/results/stalls-nvidia-h200.json
# For each square size and kernel: its time under the profiler, in nanoseconds; in how many of 100 cycles a scheduler issues an
# instruction; and how many warps wait, on average, for what, for each instruction that is issued. Needs ncu and the right to read counters.
set -euo pipefail
program=${1:?usage: record-stalls.sh PROGRAM SIZE...}
shift
reasons="no_instruction long_scoreboard short_scoreboard dispatch_stall barrier math_pipe_throttle mio_throttle lg_throttle wait not_selected"
metrics=gpu__time_duration.sum,smsp__issue_active.avg.pct_of_peak_sustained_active,lts__t_sector_hit_rate.pct,dram__bytes_read.sum
for reason in $reasons; do metrics=$metrics,smsp__average_warps_issue_stalled_${reason}_per_issue_active.ratio; done
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
printf '{\n "gpu": "%s",\n "driver": "%s",\n "rows": [' "$gpu" "$driver"
separator=""
for size in "$@"; do
  ncu --clock-control none --csv --page raw --print-units base --metrics "$metrics" \
    --kernel-name "regex:tiles|copies|past_cublas|transpose_padded|pad_rows|gemm|cutlass" "$program" --n "$size" --no-time |
    awk -v program="$(basename "$program")" -v size="$size" -v separator="$separator" -v metrics="$metrics" '
      function cells(line, out) {  # "a","b","1,024"
        sub(/^"/, "", line); sub(/"\r?$/, "", line)
        return split(line, out, /","/)
      }
      /^"ID",/ { columns = cells($0, head); units = 1; next }
      columns && units { units = 0; next }  # the row of units
      columns && /^"[0-9]/ {
        cells($0, row)
        counters = ""
        for (i = 1; i <= columns; i++) {
          if (head[i] == "Kernel Name") { kernel = row[i]; sub(/^void /, "", kernel); sub(/\(.*const.*$/, "", kernel); gsub(/\(int\)| /, "", kernel) }
          if (index("," metrics ",", "," head[i] ",") == 0) continue  # what it adds of its own
          value = row[i]; gsub(/,/, "", value)
          name = head[i]; sub(/^smsp__average_warps_issue_stalled_/, "stalled ", name); sub(/_per_issue_active\.ratio$/, "", name)
          counters = counters (counters == "" ? "" : ", ") "\"" name "\": " value
        }
        if (seen[kernel]++) next  # a lesson launches each kernel more than once
        printf "%s\n  {\"program\": \"%s\", \"shape\": \"%d x %d x %d\", \"kernel\": \"%s\", \"counters\": {%s}}", separator, program, size, size, size, kernel, counters
        separator = ","
      }'
  separator=","
done
printf '\n ]\n}\n'
