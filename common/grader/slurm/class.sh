#!/usr/bin/env bash
# Grades a class as an array job of Slurm, one submission a job, and then puts the results together. In a copy of Tilewise that all
# nodes see, after `make homework-02` has built the grader there:
#   common/grader/slurm/class.sh 02 SUBMISSIONS RESULTS
# RESULTS/table.csv is the table, RESULTS/told has a file for each student. SBATCH_ACCOUNT, SBATCH_PARTITION and so on are Slurm's own.
set -eu
if [ "${1:-}" = --job ]; then  # what Slurm runs: a copy of this file, elsewhere
  shift
  cd "$SLURM_SUBMIT_DIR"
  case $1 in
    part) exec build/sim/bin/grade "$2" --class "$3" --parts "$4/parts" --part "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_MAX" --jobs 1 ;;
    merge) exec build/sim/bin/grade "$2" --class "$3" --parts "$4/parts" --merge --csv "$4/table.csv" --feedback "$4/told" ;;
  esac
  exit 2
fi
[ $# = 3 ] || { echo "class.sh CHAPTER SUBMISSIONS RESULTS" >&2; exit 2; }
chapter=$1 submissions=$(realpath -m -- "$2") results=$(realpath -m -- "$3") self=common/grader/slurm/class.sh
[ -z "${TILEWISE_TASKS:-}" ] || TILEWISE_TASKS=$(realpath -m -- "$TILEWISE_TASKS")
export TILEWISE_TASKS
cd "$(dirname "$0")/../../.."
[ -d "$submissions" ] || { echo "class.sh: there is no folder $submissions" >&2; exit 2; }
count=$(find "$submissions" -mindepth 1 -maxdepth 1 ! -name '.*' \( -type d -o -name '*.cu' \) -print0 | tr -dc '\0' | wc -c)
[ "$count" -gt 0 ] || { echo "class.sh: $submissions has no submissions" >&2; exit 2; }
rm -rf "$results/parts"
mkdir -p "$results/parts"
# A grader needs a processor, 4 GiB for the compiler, and minutes; the submission's own limits are the grader's.
parts=$(sbatch --parsable --array="1-$count" --cpus-per-task=1 --mem=4G --time=15 --output="$results/parts/%a.log" \
  "$self" --job part "$chapter" "$submissions" "$results")
sbatch --dependency="afterany:${parts%%;*}" --cpus-per-task=1 --mem=1G --time=5 --output="$results/merge.log" \
  "$self" --job merge "$chapter" "$submissions" "$results"
