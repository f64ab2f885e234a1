#!/usr/bin/env bash
# FILE=x.cu [ARGS=...] [SAMPLE=32] sim.sh: compiles any CUDA source for the simulator and runs it. With SAMPLE, so many
# blocks of each launch are run and counted, and the report is shown.
source "$(dirname "$0")/lib.sh"
[ -n "${FILE:-}" ] || die 2 'Say which file: make sim FILE=my.cu [ARGS="..."]'
[ -f "$FILE" ] || die 2 "make sim: there is no file $FILE"
case $FILE in
  *.cu) ;;
  *.cpp | *.cc | *.cxx)
    # What asks for __CUDACC__ is meant to be plain C++, too.
    if ! grep -q __CUDACC__ "$FILE" && sed 's|//.*||' "$FILE" | grep -E '__global__|[A-Za-z0-9_>]<<<' >/dev/null; then
      die 2 "make sim: $FILE has CUDA in it, which only a .cu file may have: rename it to ${FILE%.*}.cu"
    fi
    ;;
  *) die 2 "make sim: $FILE is no source; its name has to end with .cu, that of plain C++ with .cpp, .cc or .cxx" ;;
esac
read_args
read_sample
build sim simulator
program=build/sim/run/$(basename "$FILE" .cu)
mkdir -p build/sim/run
build/sim/bin/simcc -std=c++20 "$FILE" -o "$program"
if [ -n "${SAMPLE:-}" ]; then export TILEWISE_REPORT="${TILEWISE_REPORT:--}"; fi
exec "$program" ${args[@]+"${args[@]}"}
