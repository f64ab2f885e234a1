#!/usr/bin/env bash
# Runs random kernels on a GPU under Nsight Compute and writes results and counters as JSON to standard output:
#   tests/simulator/fuzz/record.sh [SEED [KERNELS [FOLDER]]] > recording.json
# Needs nvcc, ncu, a C++20 compiler and the right to read counters. FOLDER keeps the sources, programs and logs.
set -euo pipefail
seed=${1:-1}
kernels=${2:-640}
folder=${3:-$(mktemp -d)}
here=$(cd "$(dirname "$0")" && pwd)
per_file=40

# shellcheck source=common/scripts/record/counter-metrics.sh
source "$here/../../../common/scripts/record/counter-metrics.sh"

mkdir -p "$folder"
"${CXX:-c++}" -std=c++20 -O1 "$here/generate.cpp" -o "$folder/fuzz_kernels"
parts=()
for ((first = 0; first < kernels; first += per_file)); do
  count=$((kernels - first < per_file ? kernels - first : per_file))
  part=$(printf '%s/part_%05d' "$folder" "$first")
  "$folder/fuzz_kernels" "$seed" "$first" "$count" >"$part.cu"
  parts+=("$part")
done
printf '%s\n' "${parts[@]}" | xargs -P "$(nproc)" -I{} nvcc -std=c++17 -arch=native -w -o {} {}.cu

# One profiler for all programs. Its log holds the counters, standard output the results.
printf '%s\n' "${parts[@]}" >"$folder/programs"
ncu --target-processes all --clock-control none --csv --page raw --print-units base --metrics "$counter_metrics" \
  --log-file "$folder/counters.csv" bash -c 'set -e; while read -r program; do "$program"; done <"$0"' "$folder/programs" |
  grep '^kernel_' >"$folder/results.txt"

awk -v seed="$seed" -v metrics="$counter_metrics" -v gpu="$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)" \
  -v driver="$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)" \
  -v cuda="$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')" '
  function cells(line, out) {                     # "a","b","1,024"
    sub(/^"/, "", line); sub(/"\r?$/, "", line)
    return split(line, out, /","/)
  }
  BEGIN {
    count = split(metrics, wanted, ",")
    printf "{\n \"gpu\": \"%s\",\n \"driver\": \"%s\",\n \"cuda\": \"%s\",\n \"seed\": %s,\n", gpu, driver, cuda, seed
    printf " \"metrics\": ["
    for (i = 1; i <= count; i++) printf "%s\n  \"%s\"", (i > 1 ? "," : ""), wanted[i]
    printf "\n ],\n \"kernels\": ["
  }
  FNR == NR { source[$1] = $2; result[$1] = $3; next }
  /^"ID",/ { columns = cells($0, head); for (i = 1; i <= columns; i++) column[head[i]] = i; next }
  /^"[0-9]/ {
    cells($0, row)
    name = row[column["Kernel Name"]]; sub(/\(.*/, "", name)
    printf "%s\n  {\"kernel\": \"%s\", \"source\": \"%s\", \"result\": \"%s\", \"counters\": [", (launches++ ? "," : ""), name,
           source[name], result[name]
    for (i = 1; i <= count; i++) {
      value = row[column[wanted[i]]]; gsub(/,/, "", value); sub(/\.0+$/, "", value)
      printf "%s%s", (i > 1 ? ", " : ""), value
    }
    printf "]}"
  }
  END { print "\n ]\n}" }' "$folder/results.txt" "$folder/counters.csv"
