#!/usr/bin/env bash
# test-all.sh: what takes too long for `make test` and `make test-tools`: every submission of tests/*/homework and tests/grader/tasks is graded, every attempt
# of tests/*/puzzles is judged, and each must get what it deserves. Then the simulator's tests that compile everything with every
# compiler and option.
# test-all.sh --cxx clang++: the submissions alone, compiled by this compiler in place of the one that the build was made with.
# test-all.sh --seconds N: begins with none of these parts after N seconds (puzzles, the tests with every compiler, a chapter's submissions),
# and says with which it did not (exit code 0, if the others are as expected). Each commit begins with another part.
source "$(dirname "$0")/lib.sh"
only_submissions=0 seconds=
if [ "${1:-}" = --seconds ]; then
  [[ ${2:-} =~ ^[0-9]+$ ]] || die 2 "test-all.sh --seconds '${2:-}': a number of seconds, 0 or more"
  seconds=$2
fi
if [ "${1:-}" = --cxx ]; then
  if [ -z "${2:-}" ] || ! command -v "$2" >/dev/null; then die 2 "test-all.sh --cxx COMPILER: which one?"; fi
  only_submissions=1
  build sim homework
  export TILEWISE_CXX=$2
else
  build sim homework learn simulator test_simulator
fi
failed=0
said=$(mktemp)  # what isn't as expected is said once more at the end: a long log is often seen by its last lines only
trap 'rm -f "$said"' EXIT
check() { "$@" | tee -a "$said" || failed=1; }
# What it consists of: "puzzles", "compilers" and the names of banks.
parts=()
[ $only_submissions = 1 ] || parts=(puzzles compilers)
for chapter in $(build/sim/bin/grade --list); do parts+=("$chapter"); done
for task in tests/grader/tasks/*/task.cu; do parts+=("$(basename "$(dirname "$task")")"); done
run_part() {
  case $1 in
    puzzles) check build/sim/bin/learn --check-bank ;;
    compilers)  # the test cases take minutes, on one core each
      printf '%s\n' '[all][compilers]' '[all][types]' '[all][options]' '[all][silent]' '[all]~[compilers]~[types]~[options]~[silent]' |
        xargs -P "$(getconf _NPROCESSORS_ONLN)" -n 1 build/sim/bin/test_simulator | tee -a "$said" || failed=1
      ;;
    *) check build/sim/bin/grade "$1" --check-bank ;;
  esac
}
first=0 left=()
[ -z "$seconds" ] || first=$(($(git rev-list --count HEAD 2>/dev/null || echo 0) * 7 % ${#parts[@]}))
for part in "${parts[@]:first}" "${parts[@]:0:first}"; do
  if [ -n "$seconds" ] && [ $SECONDS -ge "$seconds" ]; then left+=("$part"); else run_part "$part"; fi
done
[ ${#left[@]} = 0 ] || printf '\nNot begun within %s s: %s\n' "$seconds" "${left[*]}"
if [ $failed = 1 ]; then
  printf '\nNot as expected:\n'
  grep -A 12 -E '^FAIL|FAILED:|error:' "$said" | grep -vE '^ok ' | head -n 60
fi
exit $failed
