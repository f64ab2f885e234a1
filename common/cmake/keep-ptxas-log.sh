#!/usr/bin/env bash
# Runs nvcc and keeps what `ptxas -v` says (registers, spills, shared memory) in OBJECT.ptxas beside the object.
# CMake puts this before every nvcc command of the `compile` preset.
set -u
object=""
previous=""
for argument in "$@"; do
  [[ $previous == -o ]] && object=$argument
  previous=$argument
done

[[ -z $object ]] && exec "$@"
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
"$@" 2>"$log"
status=$?
grep -E '^ptxas info|bytes stack frame' "$log" >"$object.ptxas"
grep -vE '^ptxas info|bytes stack frame' "$log" >&2
exit $status
