#!/usr/bin/env bash
# tour.sh: sets up, builds, runs every lesson in order, prints one table, writes build/report/index.html. The first lesson
# is shown as soon as it is built, and the others are built after it.
# tour.sh build MACHINE: builds all lessons.
source "$(dirname "$0")/lib.sh"
IFS=$'\n' read -r -d '' -a all < <(chapters) || true
if [ "${1:-}" = build ]; then
  build "$2" "${all[@]}"
  exit
fi
pick_machine
build $machine "${all[0]}" tour
exec "build/$machine/bin/tour" "build/$machine/bin" build/report "common/scripts/run/tour.sh build $machine" "${all[@]}"
