#!/usr/bin/env bash
# lesson.sh CHAPTER: builds and runs one lesson and nothing else. ARGS are passed on, MACHINE chooses where.
source "$(dirname "$0")/lib.sh"
pick_machine
build $machine "$1"
read_args
exec "build/$machine/bin/$1" ${args[@]+"${args[@]}"}
