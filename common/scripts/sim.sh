#!/usr/bin/env bash
# FILE=x.cu [ARGS=...] sim.sh: compiles any CUDA source for the simulator and runs it.
source "$(dirname "$0")/lib.sh"
[ -n "${FILE:-}" ] || die 2 'Say which file: make sim FILE=my.cu [ARGS="..."]'
[ -f "$FILE" ] || die 2 "make sim: there is no file $FILE"
case $FILE in
  *.cu | *.cpp | *.cc | *.cxx) ;;
  *) die 2 "make sim: $FILE is no CUDA source; its name has to end with .cu" ;;
esac
build sim simulator
program=build/sim/run/$(basename "$FILE" .cu)
mkdir -p build/sim/run
build/sim/bin/simcc -std=c++20 "$FILE" -o "$program"
read_args
exec "$program" ${args[@]+"${args[@]}"}
