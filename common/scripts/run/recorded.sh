#!/usr/bin/env bash
# recorded.sh: prints what a GPU measured, from docs/results. Needs no GPU. ARGS="02" for chapter 02; further words
# choose rows: ARGS="02 4096 tiled_matmul_dynamic". GPU=nvidia-h200 is the file.
# Exit codes: 0; 2 bad arguments; 3 nothing is recorded.
source "$(dirname "$0")/lib.sh"
read_args
numbers=$(chapters | cut -d _ -f 1 | paste -s -d ' ' -)
[ ${#args[@]} -gt 0 ] || die 2 "Say which chapter: make recorded ARGS=02. Chapters: $numbers"
chapter=$(chapters | awk -v word="${args[0]}" '$0 == word || substr($0, 1, index($0, "_") - 1) == word')
[ -n "$chapter" ] || die 2 "make recorded: there is no chapter ${args[0]}. Chapters: $numbers"
file=docs/results/${GPU:-nvidia-h200}.json
[ -f "$file" ] || die 3 "There is no $file. GPU=nvidia-h200 is there, and so is $(basename docs/results/nvidia-h100*.json .json)."
MACHINE=${MACHINE:-sim}
pick_machine >/dev/null
build "$machine" compare >/dev/null
exec "build/$machine/bin/compare" show "$file" "$chapter" ${args[@]+"${args[@]:1}"}
