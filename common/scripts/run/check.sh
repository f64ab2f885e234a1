#!/usr/bin/env bash
# check.sh: what must hold beside the tests: tests/checks. ARGS are ctest's: "-L site" for one label, "-R claims" for some names.
# check.sh --long SECONDS: those with the label long, one by one, each commit another first; after SECONDS it begins with none of the others,
# which count as skipped and are named.
# They run on the simulator. What isn't here (nvcc, a browser, Python) is skipped. The last line is "N passed, N failed, N skipped".
MACHINE=sim
source "$(dirname "$0")/lib.sh"
export MACHINE
seconds=
if [ "${1:-}" = --long ]; then
  [[ ${2:-} =~ ^[0-9]+$ ]] || die 2 "check.sh --long '${2:-}': a number of seconds, 0 or more"
  seconds=$2
fi
read_args
unset ARGS MAKEFLAGS MAKEOVERRIDES MFLAGS  # in which `make check ARGS=...` leaves them for the makes that checks start
build sim
[ -e build/report/index.html ] || die 1 "build/report/index.html isn't there: make tour"
common/scripts/run/setup.sh site-checks || echo "Without a browser, what looks at pages is skipped."
count() { sed -nE "s/^[[:space:]]*$1=\"([0-9]+)\".*/\\1/p" "$results" | head -n 1; }
passed=0 failed=0 skipped=0
run_checks() {  # run_checks ARGUMENTS OF CTEST...: fails where one of them does
  local results=$PWD/build/sim/checks.xml status=0 tests f s
  rm -f "$results"
  ctest --preset checks -j "$(jobs_to_use)" --output-junit "$results" --no-tests=error "$@" || status=$?
  [ -e "$results" ] || exit $status
  tests=$(count tests) f=$(count failures) s=$(($(count skipped) + $(count disabled)))
  [ $status = 0 ] || [ "$f" != 0 ] || die 1 "ctest ends with $status, and no check failed: are there any with $*?"
  passed=$((passed + tests - f - s)) failed=$((failed + f)) skipped=$((skipped + s))
}

if [ -z "$seconds" ]; then
  run_checks ${args[@]+"${args[@]}"}
else
  long=() left=()
  while read -r name; do long+=("$name"); done < <(ctest --preset checks -N -L '^long$' | sed -nE 's/^ *Test +#[0-9]+: (.*)$/\1/p')
  [ ${#long[@]} -gt 0 ] || die 1 "check.sh --long: there is no check with the label long"
  first=$(($(git rev-list --count HEAD 2>/dev/null || echo 0) % ${#long[@]}))
  for check in "${long[@]:first}" "${long[@]:0:first}"; do
    if [ $SECONDS -ge "$seconds" ]; then
      left+=("$check")
    else
      run_checks -R "^${check//[^[:alnum:] ]/.}\$"  # (numbers of tests, -I, mean others where a preset has a filter)
    fi
  done
  for check in ${left[@]+"${left[@]}"}; do echo "Not begun within $seconds s: $check"; done
  skipped=$((skipped + ${#left[@]}))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
