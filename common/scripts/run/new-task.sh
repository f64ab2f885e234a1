#!/usr/bin/env bash
# new-task.sh NAME: a task of a teacher's own that works at once: task.cu with contract, reference, shapes, targets and hints,
# a starter, a solution and two wrong attempts, in NAME/ of the folder that TILEWISE_TASKS names, or of tasks/ here.
# docs/teaching.md says what to change in it.
source "$(dirname "$0")/lib.sh"
name=${1:-}
[[ $name =~ ^[a-z][a-z0-9_]*$ && ${#name} -le 40 ]] ||
  die 2 "make new-task NAME: '$name' is not a name. It has small letters, digits and _, begins with a letter, and has at most 40 of them, as in make new-task clamp."
# make would go on with the target of this name.
if grep -m 1 '^\.PHONY' Makefile | grep -qw -- "$name"; then die 2 "'make $name' means something else. Take another name."; fi
[ -z "${TILEWISE_TASKS:-}" ] || [ -d "$TILEWISE_TASKS" ] || die 2 "TILEWISE_TASKS is $TILEWISE_TASKS, which is no folder. Make it: mkdir -p '$TILEWISE_TASKS'"
folder=${TILEWISE_TASKS:-tasks}/$name
[ ! -e "$folder" ] || die 2 "$folder is there already. Take another name, or remove it first."
mkdir -p "$folder/wrong"
examples=tests/grader/tasks/add_neighbour
for file in task.cu starter.cu solution.cu wrong/grid_rounded_down.cu wrong/last_reads_outside.cu; do
  sed "s/add_neighbour/$name/g" "$examples/$file" >"$folder/$file"
done
echo "$folder has the task $name, for you to change:"
echo "  task.cu      the contract, and below its mark what the grader knows"
echo "  starter.cu   what learners begin with; solution.cu; wrong/, attempts that must lose points"
echo "Grade all of them with: make check-$name; a learner's file: make homework-$name FILE=ann.cu"
