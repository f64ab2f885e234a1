#!/usr/bin/env bash
# test-all.sh: what takes too long for `make test`: every submission of tests/*/homework and tests/grader/tasks is graded, every attempt
# of tests/*/puzzles is judged, and each must get what it deserves. Then the simulator's tests that compile everything with every
# compiler and option.
source "$(dirname "$0")/lib.sh"
build sim homework learn simulator test_simulator
failed=0
for chapter in $(build/sim/bin/grade --list); do
  build/sim/bin/grade "$chapter" --check-bank || failed=1
done
for task in tests/grader/tasks/*/task.cu; do
  build/sim/bin/grade "$(basename "$(dirname "$task")")" --check-bank || failed=1
done
build/sim/bin/learn --check-bank || failed=1
build/sim/bin/test_simulator "[all]" || failed=1
exit $failed
