#!/usr/bin/env bash
# with.sh PROGRAM[,PROGRAM...] COMMAND...: runs the command. Where one of the programs isn't here, it says so and ends with 77: skipped.
set -u
PATH=$PATH:/usr/local/cuda/bin  # nvcc is there, if it is anywhere
IFS=, read -r -a programs <<<"$1"
shift
for program in "${programs[@]}"; do
  command -v "$program" >/dev/null || { echo "$program is not here"; exit 77; }
done
exec "$@"
