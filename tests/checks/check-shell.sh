#!/usr/bin/env bash
# check-shell.sh: all shell scripts, by shellcheck.
set -eu
cd "$(dirname "$0")/../.."
shellcheck -x -P SCRIPTDIR common/scripts/*/*.sh common/cmake/*.sh tests/*/*.sh common/grader/gradescope/* common/grader/slurm/*.sh .ci/run
