#!/usr/bin/env bash
# compare.sh: runs the lessons at the recorded sizes and holds the results against docs/results/<gpu>.json.
# ARGS="01 04" compares some chapters only. TOLERANCE=5: a row may be 5 % slower than recorded (10).
# On a GPU times are compared; where nothing is recorded for this GPU, with the H200's, which it says. On the simulator
# counts are, if they were recorded (common/scripts/record/record-results.sh build/sim/bin).
# Exit codes: 0 nothing is worse than recorded; 1 a wrong result, a slower row on the same GPU, or another count;
# 2 bad arguments; 3 nothing to compare with. (make prints it as "Error 3" and ends with 2 itself.)
# RESULTS=FOLDER: another folder than docs/results.
source "$(dirname "$0")/lib.sh"
case ${TOLERANCE:-10} in *[!0-9.]* | *.*.* | "" | .) die 2 "TOLERANCE is '$TOLERANCE'; it must be a number of per cent." ;; esac
IFS=$'\n' read -r -d '' -a all < <(chapters) || true
results=${RESULTS:-docs/results}
read_args
wanted=()
for word in ${args[@]+"${args[@]}"}; do
  found=""
  for chapter in "${all[@]}"; do
    if [ "$word" = "$chapter" ] || [ "$word" = "${chapter%%_*}" ]; then found=$chapter; fi
  done
  [ -n "$found" ] || die 2 "make compare: there is no chapter $word. Chapters: ${all[*]%%_*}"
  wanted+=("$found")
done
[ ${#wanted[@]} -gt 0 ] || wanted=("${all[@]}")
pick_machine
build "$machine" 01_naive_matmul "${wanted[@]}" compare
bin=$PWD/build/$machine/bin work=$PWD/build/compare
mkdir -p "$work"
rm -f "$work"/*.json

# Which machine this is, only a program can say.
(cd "$work" && "$bin/01_naive_matmul" --n 8 --tile 8 --repeat 1 --json probe.json >/dev/null)
recorded=$("$bin/compare" file "$results" "$work/probe.json") || exit $?

runs=() failed=0
for chapter in "${wanted[@]}"; do
  if ! line=$("$bin/compare" arguments "$recorded" "$chapter"); then
    echo "$chapter: not recorded in $recorded"
    continue
  fi
  IFS=' ' read -r -a arguments <<<"$line" || true
  echo "Running $chapter $line"
  if ! (cd "$work" && "$bin/$chapter" ${arguments[@]+"${arguments[@]}"} --json "$chapter.json" >"$chapter.log" 2>&1); then
    failed=1
    echo "$chapter failed; its output is build/compare/$chapter.log" >&2
    tail -n 5 "$work/$chapter.log" >&2
  fi
  if [ -s "$work/$chapter.json" ]; then runs+=("$work/$chapter.json"); fi
done
[ ${#runs[@]} -gt 0 ] || { [ $failed = 1 ] && exit 1; die 3 "None of these chapters is recorded in $recorded."; }
status=0
"$bin/compare" table "$recorded" "${runs[@]}" || status=$?
[ $failed = 0 ] || exit 1
exit $status
