#!/usr/bin/env bash
# measure-simulator.sh [PYTHON]: what the simulator costs, as docs/simulator-cost.md shows it. User time, best of three.
# With the Python of an environment that has numba and numpy, also Numba's CUDA simulator on the same naive kernel: once,
# which takes minutes.
# Needs build/sim/bin/simcc (cmake --build --preset sim --target simulator) and GNU time (apt-get install time).
set -euo pipefail
cd "$(dirname "$0")/../../.."
python=${1-}
[[ -x build/sim/bin/simcc ]] || { echo "measure-simulator: build/sim/bin/simcc is missing" >&2; exit 2; }
[[ -x /usr/bin/time ]] || { echo "measure-simulator: GNU time is missing: apt-get install time" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build/sim/bin/simcc -std=c++20 -O2 tests/simulator/cost/matmul.cu -o "$work/matmul"
unset TILEWISE_REPORT TILEWISE_COUNT TILEWISE_FINDINGS TILEWISE_DEVICE

row() {  # row NAME ACCESSES SECONDS KIB
  awk -v name="$1" -v accesses="$2" -v seconds="$3" -v kib="$4" 'BEGIN {
    printf "%-48s %8.1f M %8.2f s %8.1f ns %6.0f MB\n", name, accesses / 1e6, seconds, seconds / accesses * 1e9, kib / 1024 }'
}

measure() {  # measure NAME ACCESSES [VARIABLE=VALUE]... KERNEL N
  local name=$1 accesses=$2 best="" seconds kib peak=0
  shift 2
  local settings=("${@:1:$#-2}") arguments=("${@: -2}")
  for _ in 1 2 3; do
    env ${settings[@]+"${settings[@]}"} /usr/bin/time -f '%U %M' -o "$work/time" "$work/matmul" "${arguments[@]}"
    read -r seconds kib <"$work/time"
    [[ -n $best ]] && awk "BEGIN { exit !($best <= $seconds) }" || best=$seconds
    ((kib <= peak)) || peak=$kib
  done
  row "$name" "$accesses" "$best" "$peak"
}

naive() { echo $((2 * $1 * $1 * $1 + $1 * $1)); }             # every thread: 2 N loads, 1 store
tiled() { echo $(($1 * $1 * ($1 / 32) * 68 + $1 * $1)); }     # per tile 2 global loads, 2 shared stores, 64 shared loads

printf '%-48s %10s %10s %11s %9s\n' "" accesses time "per access" peak
measure "naive 512^3, plain" "$(naive 512)" TILEWISE_FINDINGS=off naive 512
measure "tiled 32, 512^3, plain" "$(tiled 512)" TILEWISE_FINDINGS=off tiled 512
measure "naive 256^3, plain" "$(naive 256)" TILEWISE_FINDINGS=off naive 256
measure "naive 256^3, findings" "$(naive 256)" naive 256
measure "naive 256^3, counted" "$(naive 256)" TILEWISE_FINDINGS=off TILEWISE_COUNT=1 naive 256
measure "naive 256^3, counted, findings" "$(naive 256)" TILEWISE_COUNT=1 naive 256
measure "tiled 32, 256^3, counted, findings" "$(tiled 256)" TILEWISE_COUNT=1 tiled 256
if [[ -n $python ]]; then
  read -r seconds kib < <("$python" tests/simulator/cost/numba_matmul.py 256)
  row "naive 256^3, Numba's CUDA simulator" "$(naive 256)" "$seconds" "$kib"
fi
