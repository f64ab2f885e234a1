#!/usr/bin/env bash
# tune.sh CHAPTER: the chapter's tuner, chapters/CHAPTER/tune.cu: which of its kernels, with which tiles, is fastest on this device.
# ARGS are passed on, MACHINE chooses where.
source "$(dirname "$0")/lib.sh"
pick_machine
build $machine "tune_$1"
read_args
exec "build/$machine/bin/tune_$1" ${args[@]+"${args[@]}"}
