#!/usr/bin/env bash
# Grades homework on this machine's GPU, all chapters:
#   common/scripts/record/record-homework.sh [KINDS]     default: solution,starter,alternatives; all: every submission of the banks
# First the solutions, alone on the GPU, with their times: docs/results/homework-<gpu>.json (or $OUT_FILE) says for each task
# what it got, on the simulator and on the GPU, and how long its kernel takes. Then the submissions of tests/NN_topic/homework
# of these kinds; each must get what it deserves. Needs a GPU, nvcc and Python. Exit code 1 when anything is not as it should be.
source "$(dirname "$0")/../run/lib.sh"
kinds=${1:-solution,starter,alternatives}
[ "$kinds" != all ] || kinds=solution,starter,alternatives,wrong,hostile
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
build sim homework
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader | head -n 1)
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader | head -n 1)
file=${OUT_FILE:-docs/results/homework-$(tr 'A-Z ' 'a-z-' <<<"$gpu").json}
failed=0
too_few=" "  # GPUs, for these chapters
for chapter in $(build/sim/bin/grade --list); do
  status=0
  build/sim/bin/grade "$chapter" --gpu --jobs "$cores" --file "tests/$chapter/homework/solution.cu" \
    --json "$work/$chapter.json" >"$work/$chapter.txt" 2>&1 || status=$?
  if [ $status = 3 ] && grep -E 'needs [0-9]+ GPUs, two at least, and here' "$work/$chapter.txt"; then
    rm -f "$work/$chapter.json"
    too_few+="$chapter "
    continue
  fi
  grep -E '^[0-9]\. |time on the GPU|together' "$work/$chapter.txt" | sed "s/^[0-9]/$chapter &/" || true
  [ $status = 0 ] || { failed=1; echo "$chapter: the solution has not all points (exit code $status)"; cat "$work/$chapter.txt"; }
done
python3 - "$file" "$driver" "${TILEWISE_COMMIT:-$(git describe --always --dirty)}" "$work"/*.json <<'PYTHON' || failed=1
import json, sys

file, driver, commit, *verdicts = sys.argv[1:]
record = {"commit": commit, "driver": driver, "tasks": []}
for verdict in map(json.load, map(open, verdicts)):
    gpu = verdict["gpu"]
    record |= {"gpu": gpu["name"], "cuda": gpu["nvcc_cuda"], "isolation": gpu["isolation"]}
    for task in verdict["tasks"]:
        on = task["gpu"]
        time = on["time"]
        record["tasks"].append({
            "chapter": verdict["chapter"], "task": task["task"], "points": task["points"],
            "visible_right": on["visible_right"], "hidden_right": on["hidden_right"],
            "shape": time["shape"], "ms": time["solution_ms"], "again_ms": time["submission_ms"],
        })
with open(file, "w") as out:
    json.dump(record, out, indent=1)
    out.write("\n")
PYTHON
echo "$file"
for chapter in $(build/sim/bin/grade --list); do
  [ "${too_few#*" $chapter "}" = "$too_few" ] || continue
  build/sim/bin/grade "$chapter" --gpu --check-bank --only "$kinds" --jobs "$cores" || failed=1
done
exit $failed
