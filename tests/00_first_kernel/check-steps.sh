#!/usr/bin/env bash
# check-steps.sh [--write]: compiles and runs the steps of chapter 00, and the steps with a beginner's mistake in them, on
# the simulator, and compares what they print with the files in steps/, which the chapter's page shows. --write writes
# the messages of the mistakes anew. SIMCC: the simulator's compiler.
# check-steps.sh --nvcc [RUNNER...]: the steps alone, on this machine's GPU; RUNNER is put in front of each program.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
expected=$PWD/tests/00_first_kernel/steps
steps=$PWD/chapters/00_first_kernel/steps
compiler=("${SIMCC:-$PWD/build/sim/bin/simcc}" -Wall -Wextra)
runner=()
mode=check
case ${1:-} in
  --write) mode="write" ;;
  --nvcc) mode=nvcc && shift && runner=("$@") && compiler=("${NVCC:-nvcc}" -arch=native) ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
unset TILEWISE_REPORT TILEWISE_FINDINGS TILEWISE_COUNT TILEWISE_SAMPLE
failed=0

fail() {
  echo "FAIL  $1"
  failed=$((failed + 1))
}

# run NAME STEP [SED]: leaves stdout in `out`, and stderr with the exit code in `said`. SED changes the step.
run() {
  sed -E "${3:-}" "$steps/$2.cu" >"$2.cu"
  [ -z "${3:-}" ] || ! cmp -s "$2.cu" "$steps/$2.cu" || fail "$1: the edit changes nothing in $2.cu"
  local status=0
  "${compiler[@]}" "$2.cu" -o program >compiled 2>&1 || { cat compiled && fail "$1: does not compile" && return; }
  [ -n "${3:-}" ] || [ ! -s compiled ] || { cat compiled && fail "$1: the compiler warns"; }
  ${runner[@]+"${runner[@]}"} ./program >out 2>said || status=$?
  echo "exit code $status" >>said
}

# shows NAME FILE...: what was printed are these pictures, one after the other.
shows() {
  local name=$1
  shift
  (cd "$expected" && cat "$@") | diff - out || fail "$name: prints something else"
}

# right STEP PICTURE...: the step as it is.
right() {
  run "$1" "$1"
  [ "$(tail -n 1 said)" = "exit code 0" ] || { cat said && fail "$1"; }
  [ $mode = nvcc ] || [ "$(wc -l <said)" = 1 ] || { cat said && fail "$1: something was found"; }
  [ $# = 1 ] || shows "$@"
}

# mistake NAME STEP SED PICTURE...: the step with a mistake in it, and what is said about it.
mistake() {
  [ $mode != nvcc ] || return 0
  run "$1" "$2" "$3"
  if [ $mode = write ]; then cp said "$expected/$1.txt"; fi
  diff "$expected/$1.txt" said || fail "$1: says something else"
  shows "$1" "${@:4}"
}

for step in 01_loop 02_kernel 04_grid 05_copies 06_errors 07_two_dimensions; do right $step dark.txt bright.txt; done
right 03_threads dark.txt first_256.txt
right 08_time
[ "$(sed -E 's/^[0-9]+\.[0-9]{3} ms$/time/' out | tr '\n' ' ')" = "time time time " ] || { cat out && fail "08_time: prints something else"; }

mistake no_guard 05_copies '/if \(i >= n\) return;/d' dark.txt dark.txt
mistake host_pointer 05_copies 's/256>>>\(device/256>>>(picture/' dark.txt dark.txt
mistake no_wait 04_grid '/cudaDeviceSynchronize/d' dark.txt bright.txt
mistake too_many_threads 05_copies 's/, 256>>>/, 1025>>>/' dark.txt dark.txt
mistake too_many_threads_checked 06_errors 's/, 256>>>/, 1025>>>/' dark.txt
mistake not_copied_back 05_copies '/cudaMemcpyDeviceToHost/d' dark.txt dark.txt

for step in "$steps"/*.cu; do
  lines=$(wc -l <"$step")
  [ "$lines" -le 40 ] || fail "$(basename "$step"): $lines lines, more than 40"
done
[ $failed = 0 ] && echo "all steps do what the page says"
