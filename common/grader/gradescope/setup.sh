#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image that all submissions are graded in. The zip that
# `make gradescope-NN` makes lies unpacked in /autograder/source: this file, run_autograder, the file `chapter`, and the
# repository in tilewise/. AUTOGRADER stands for /autograder when this is tried elsewhere.
set -eu
cd "${AUTOGRADER:-/autograder}/source"
chapter=$(cat chapter)

cd tilewise
common/scripts/homework.sh build "$chapter"
# An image that cannot grade the solution right should fail now, not when students are waiting.
build/sim/bin/grade "$chapter" --file "tests/$chapter/homework/solution.cu"
