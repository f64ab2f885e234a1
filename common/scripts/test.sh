#!/usr/bin/env bash
# test.sh [CHAPTER]: builds and runs all tests, or those of one chapter. MACHINE chooses where.
# The last line is "N passed, N failed, N skipped", summed from what the test programs printed.
# With ARGS and a CHAPTER: runs that test program with those arguments, for its own output: ARGS="-s [counts]".
source "$(dirname "$0")/lib.sh"
pick_machine
folder=build/$machine
log=$folder/test.log

if [ $# = 0 ]; then
  build $machine
  select=()
else
  [ -n "$(find "tests/$1" -name '*_test.cu' 2>/dev/null)" ] || die 1 "tests/$1 has no tests."
  build $machine "test_$1"
  read_args
  if [ ${#args[@]} -gt 0 ]; then exec "build/$machine/bin/test_$1" -w NoTests "${args[@]}"; fi
  select=(-R "^test_$1$")
fi

# ctest -V repeats each program's output behind "N: "; cases are counted from Catch2's own last line. A test that is
# no Catch2 program, or dies before it could count, is one case.
status=0
ctest --preset $machine -V --no-tests=error ${select[@]+"${select[@]}"} 2>&1 | tee "$log" | awk '
  function number_before(word,   text) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
  /^ +Start +[0-9]+: / { cases_passed = cases_failed = 0; counted = 0 }
  /^[0-9]+: All tests passed \(/ { cases_passed += number_before("test case"); counted = 1 }
  /^[0-9]+: test cases: / {
    cases_passed += number_before("passed"); cases_failed += number_before("failed")
    skipped += number_before("skipped"); counted = 1
  }
  /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    name = $4; seconds = $(NF - 1)
    if (/Skipped/) { if (!counted) skipped++ }
    else if (/   Passed /) { if (!counted) cases_passed = 1 }
    else if (cases_failed == 0) cases_failed = 1
    passed += cases_passed; failed += cases_failed
    printf "  %-28s %4d passed %4d failed %8.1f s\n", name, cases_passed, cases_failed, seconds
    fflush()
  }
  END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped }' || status=$?

if [ $status != 0 ]; then
  {
    echo "What failed (the whole log is $log):"
    # Of each failed program the last lines. ctest writes "N: line" and, at the end, "N - name (why)".
    sed -n '/The following tests FAILED/,$p' "$log" | sed -nE 's/^[[:space:]]*([0-9]+) - (.*)$/\1 \2/p' |
      while read -r number name; do
        echo "--- $name"
        grep -E "^$number: " "$log" | sed -E 's/^[0-9]+: //' | tail -n 40
      done
  } >&2
fi
exit $status
