#!/usr/bin/env bash
# FOLDER=dir [ARGS=...] programs.sh: builds the simulator, and puts every CUDA program of the folder through it (programs.py).
source "$(dirname "$0")/lib.sh"
[ -n "${FOLDER:-}" ] || die 2 'Say which folder: make programs FOLDER=dir [ARGS="--timeout 20"]'
[ -d "$FOLDER" ] || die 2 "make programs: there is no folder $FOLDER"
build sim simulator
read_args
exec common/scripts/run/programs.py "$FOLDER" ${args[@]+"${args[@]}"}
