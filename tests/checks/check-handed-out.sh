#!/usr/bin/env bash
# check-handed-out.sh: the first `make homework-NAME` gives a student the starter.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
handed=tests/grader/tasks/tone/homework.cu
[ ! -e $handed ] || die 1 "$handed is there already"
trap 'rm -f $handed' EXIT
tests/checks/exits.sh 0 'homework.cu is new' make homework-tone
