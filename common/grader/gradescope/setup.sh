#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image that all submissions are graded in. The zip that
# `make gradescope-NN` makes lies unpacked in /autograder/source: this file, run_autograder, the file `chapter`, and the
# repository in tilewise/. AUTOGRADER stands for /autograder when this is tried elsewhere.
set -eu
cd "${AUTOGRADER:-/autograder}/source"
chapter=$(cat chapter)
[ ! -d tasks ] || export TILEWISE_TASKS=$PWD/tasks  # of the teacher's own

cd tilewise
common/scripts/run/homework.sh build "$chapter"
# An image that cannot grade the solution right should fail now, not when students are waiting.
common/scripts/run/homework.sh solution "$chapter" >../solution.cu
build/sim/bin/grade "$chapter" --file ../solution.cu
rm ../solution.cu
