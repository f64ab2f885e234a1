#!/usr/bin/env bash
# Every lesson on small, ragged sizes under the four tools of compute-sanitizer:
#   tests/checks/check-sanitizers.sh [NN...]      default: all chapters; needs a GPU and the preset gpu built
# One line per lesson and tool; exit code 1 if a tool or a lesson reports anything. Eight at a time: nothing is timed.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
programs=${PROGRAMS:-build/gpu/bin}
[ $# -gt 0 ] || set -- 00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16
command -v compute-sanitizer >/dev/null || { echo "check-sanitizers: no compute-sanitizer; it comes with the CUDA Toolkit" >&2; exit 2; }
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

arguments() {
  case $1 in
    00) echo --width 44,129 --height 14,33 --block 32,100,1024 ;;
    01) echo --n 129 --m 33 --k 70 ;;
    02) echo --n 129 --tile 8,16,32 ;;
    03) echo --n 129 --rows 128,75 --cols 96,83 --bytes 4224,65536 ;;
    04) echo --rows 67,128 --cols 131,128 ;;
    05) echo --n 70001 ;;
    06) echo --n 4096 ;;
    07) echo --n 129 --math-n 129 --call-shape 40,56,72 --small-n 16 ;;
    08) echo --steps 300 --words 100003 --n 10001 --fmas 1,16 ;;
    09) echo --m 129 --n 65 --k 70 ;;
    10) echo --m 129 --n 65,68 --k 72 ;;
    11) echo --m 129 --n 65,68 --k 70 ;;
    12) echo --m 260 --n 129,132 --k 70 ;;
    13) echo --m 129,144 --n 136,144 --k 80 ;;
    14) echo --n 0,1,100003 ;;
    15) echo --n 100003 --times 5 --small-n 1000 --steps 20 ;;
    16) echo --size 300 --plate-rows 37 --copied 1001 --reduced 4099 --summed 100003 ;;
  esac
}
export -f arguments

check() {
  local chapter=$1 tool=$2 program log status=0 started=$SECONDS
  program=$(find "$programs" -maxdepth 1 -name "${chapter}_*" 2>/dev/null | head -n 1)
  [ -n "$program" ] || { echo "chapter $chapter: not built" >&2; return 1; }
  log=$logs/$chapter-$tool
  # Not the libraries' kernels: racecheck reports hazards inside a kernel of cuSPARSE, csrmv_v3_kernel, and initcheck reads of what the
  # other GPU wrote inside NCCL's. Nor calls that fail inside NCCL, which tries what the machine can.
  local options=()
  [ "$chapter $tool" != "16 memcheck" ] || options=(--report-api-errors no)
  # shellcheck disable=SC2046
  timeout 300 compute-sanitizer --tool "$tool" "${options[@]}" --kernel-name-exclude kns=cusparse --kernel-name-exclude kns=ncclDevKernel \
    --error-exitcode 9 "$program" $(arguments "$chapter") --no-time >"$log" 2>&1 || status=$?
  printf '%-18s %-10s exit code %d %4d s  %s\n' "$(basename "$program")" "$tool" "$status" $((SECONDS - started)) "$(grep -E '========= (ERROR|RACECHECK) SUMMARY' "$log" | tail -n 1 | sed 's/=* //')"
  [ $status = 0 ] || { sed 's/^/    /' "$log" | grep -vE '^ *$' | tail -n 25; return 1; }
}
export -f check
export programs logs

for chapter in "$@"; do
  for tool in memcheck racecheck initcheck synccheck; do echo "$chapter $tool"; done
done | xargs -P 8 -L 1 bash -c 'check "$@"' check
