#!/usr/bin/env bash
# check.sh: what must hold beside the tests: tests/checks. ARGS are ctest's: "-L site" for one label, "-R claims" for some names.
# They run on the simulator. What isn't here (nvcc, a browser, Python) is skipped. The last line is "N passed, N failed, N skipped".
MACHINE=sim
source "$(dirname "$0")/lib.sh"
export MACHINE
read_args
unset ARGS
build sim
[ -e build/report/index.html ] || die 1 "build/report/index.html isn't there: make tour"
common/scripts/run/setup.sh site-checks || echo "Without a browser, what looks at pages is skipped."
results=$PWD/build/sim/checks.xml
rm -f "$results"
status=0
ctest --preset checks -j "$(jobs_to_use)" --output-junit "$results" --no-tests=error ${args[@]+"${args[@]}"} || status=$?
[ -e "$results" ] || exit $status
count() { sed -nE "s/^[[:space:]]*$1=\"([0-9]+)\".*/\\1/p" "$results" | head -n 1; }
tests=$(count tests) failed=$(count failures) skipped=$(($(count skipped) + $(count disabled)))
echo "$((tests - failed - skipped)) passed, $failed failed, $skipped skipped"
exit $status
