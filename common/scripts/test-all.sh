#!/usr/bin/env bash
# test-all.sh: what takes too long for `make test`: every submission of tests/*/homework and tests/grader/tasks is graded, every attempt
# of tests/*/puzzles is judged, and each must get what it deserves. Then the simulator's tests that compile everything with every
# compiler and option.
# test-all.sh --cxx clang++: the submissions alone, compiled by this compiler in place of the one that the build was made with.
source "$(dirname "$0")/lib.sh"
only_submissions=0
if [ "${1:-}" = --cxx ]; then
  if [ -z "${2:-}" ] || ! command -v "$2" >/dev/null; then die 2 "test-all.sh --cxx COMPILER: which one?"; fi
  export TILEWISE_CXX=$2
  only_submissions=1
  build sim homework
else
  build sim homework learn simulator test_simulator
fi
failed=0
for chapter in $(build/sim/bin/grade --list); do
  build/sim/bin/grade "$chapter" --check-bank || failed=1
done
for task in tests/grader/tasks/*/task.cu; do
  build/sim/bin/grade "$(basename "$(dirname "$task")")" --check-bank || failed=1
done
[ $only_submissions = 0 ] || exit $failed
build/sim/bin/learn --check-bank || failed=1
build/sim/bin/test_simulator "[all]" || failed=1
exit $failed
