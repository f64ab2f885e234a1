#!/usr/bin/env bash
# test.sh [CHAPTER]: builds and runs the tests of all lessons and of the common library, or those of one chapter. MACHINE chooses where.
# test.sh --tools: those of the simulator, the grader and the puzzles' judge.
# The last line is "N passed, N failed, N skipped", summed from what the test programs printed.
# With ARGS and a CHAPTER: runs that test program with those arguments, for its own output: ARGS="-s [counts]".
source "$(dirname "$0")/lib.sh"
pick_machine
folder=build/$machine
log=$folder/test.log

# python_tests CHAPTER: pytest on a lesson in Python. Prints its lines and sets python_passed and kin, which are added up below.
python_passed=0 python_failed=0 python_skipped=0
python_tests() {
  local output started=$SECONDS
  build "$machine" "$1"
  if [ ! -e "build/$machine/python/$1.built" ]; then  # no PyPI: build said so
    python_skipped=$((python_skipped + 1))
    return
  fi
  output=build/$machine/$1.pytest.log
  "build/$machine/python/bin/python" -m pytest -q -p no:cacheprovider ${2:+"${@:2}"} "tests/$1" >"$output" 2>&1 || true
  number() { sed -nE "s/.*[^0-9]([0-9]+) $1.* in .*s.*/\\1/p" <<<" $(tail -n 1 "$output")"; }
  local passed failed errors skipped
  passed=$(number passed) failed=$(number failed) errors=$(number error) skipped=$(number skipped)
  failed=$((${failed:-0} + ${errors:-0}))
  [ -n "$passed" ] || [ $failed != 0 ] || failed=1  # it died
  printf '  %-28s %4d passed %4d failed %8.1f s\n' "test_$1" "${passed:-0}" "$failed" $((SECONDS - started))
  [ $failed = 0 ] || tail -n 40 "$output" >&2
  python_passed=$((python_passed + ${passed:-0})) python_failed=$((python_failed + failed)) python_skipped=$((python_skipped + ${skipped:-0}))
}

if [ $# = 1 ] && is_python "$1"; then
  read_args
  python_tests "$1" ${args[@]+"${args[@]}"}
  echo "$python_passed passed, $python_failed failed, $python_skipped skipped"
  [ $python_failed = 0 ]
  exit
fi
if [ $# = 0 ]; then
  build $machine lesson_tests
  select=(-LE '^(tools|check)$')
elif [ "$1" = --tools ]; then
  build $machine tool_tests
  select=(-L '^tools$')
else
  [ -n "$(find "tests/$1" -name '*_test.cu' 2>/dev/null)" ] || die 1 "tests/$1 has no tests."
  build $machine "test_$1"
  read_args
  if [ ${#args[@]} -gt 0 ]; then exec "build/$machine/bin/test_$1" -w NoTests "${args[@]}"; fi
  select=(-R "^test_$1$")
fi

# ctest -V repeats each program's output after "N: "; cases are counted from Catch2's own last line. A test that is
# no Catch2 program, or dies before it could count, is one case. On a GPU one program at a time: they share it.
if [ $# = 0 ]; then
  for chapter in $(chapters); do
    if is_python "$chapter"; then python_tests "$chapter"; fi
  done
fi
jobs=1
[ "$machine" = gpu ] || jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
status=0
ctest --test-dir "$folder" -V -j "$jobs" --no-tests=error ${select[@]+"${select[@]}"} 2>&1 | tee "$log" | awk -v passed="$python_passed" -v failed="$python_failed" -v skipped="$python_skipped" '
  function number_before(word,   text) { return match($0, "[0-9]+ " word) ? substr($0, RSTART) + 0 : 0 }
  /^[0-9]+: All tests passed \(/ { passed_of[$1 + 0] += number_before("test case"); counted[$1 + 0] = 1 }
  /^[0-9]+: test cases: / {
    passed_of[$1 + 0] += number_before("passed"); failed_of[$1 + 0] += number_before("failed")
    skipped += number_before("skipped"); counted[$1 + 0] = 1
  }
  /^ *[0-9]+\/[0-9]+ Test +#[0-9]+: / {
    match($0, /#[0-9]+/)
    n = substr($0, RSTART + 1, RLENGTH - 1) + 0
    name = $4; seconds = $(NF - 1)
    if (/Skipped/) { if (!counted[n]) skipped++ }
    else if (/   Passed /) { if (!counted[n]) passed_of[n] = 1 }
    else if (failed_of[n] == 0) failed_of[n] = 1
    passed += passed_of[n]; failed += failed_of[n]
    printf "  %-28s %4d passed %4d failed %8.1f s\n", name, passed_of[n], failed_of[n], seconds
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
[ $python_failed = 0 ] || status=1
exit $status
