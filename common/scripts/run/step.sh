#!/usr/bin/env bash
# step.sh CHAPTER [NUMBER]: compiles one of the small programs in chapters/CHAPTER/steps with the compiler alone, and runs it.
# MACHINE chooses where. Without a number: says which there are; so, too, with one that is not there, and ends with 2.
source "$(dirname "$0")/lib.sh"
steps=chapters/$1/steps
number=${2:-0}
[[ $number =~ ^[0-9]+$ ]] || number=0
file=$(find "$steps" -name "$(printf '%02d' "$((10#$number))")_*.cu")
if [ -z "$file" ]; then
  status=0
  if [ $# -gt 1 ]; then
    echo "Chapter ${1%%_*} has no step $2." >&2
    status=2
    exec >&2
  fi
  echo "The steps of chapter $1 are:"
  for file in "$steps"/*.cu; do
    number=$(basename "$file" | sed -E 's/^0*([0-9]+)_.*/\1/')
    echo "  make step-${1%%_*}-$number    $(sed -n '1s|^// Step [0-9]*: ||p' "$file")"
  done
  exit $status
fi
pick_machine
program=build/$machine/run/$(basename "$file" .cu)
mkdir -p "$(dirname "$program")"
if [ "$machine" = sim ]; then
  build sim simulator
  compiler=(build/sim/bin/simcc)
else
  compiler=("$(find_nvcc)" -arch=native)
fi
echo "${compiler[*]} $file -o $program && $program"
"${compiler[@]}" "$file" -o "$program"
exec "$program"
