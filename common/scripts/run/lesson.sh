#!/usr/bin/env bash
# lesson.sh CHAPTER: builds and runs one lesson and nothing else. ARGS are passed on, MACHINE chooses where,
# SAMPLE how many blocks of each launch the simulator counts.
source "$(dirname "$0")/lib.sh"
read_args
read_sample
pick_machine
build $machine "$1"
exec "build/$machine/bin/$1" ${args[@]+"${args[@]}"}
