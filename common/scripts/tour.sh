#!/usr/bin/env bash
# tour.sh: sets up, builds, runs every lesson in order, prints one table, writes build/report/index.html.
source "$(dirname "$0")/lib.sh"
pick_machine
IFS=$'\n' read -r -d '' -a all < <(chapters) || true
build $machine "${all[@]}" tour
exec "build/$machine/bin/tour" "build/$machine/bin" build/report "${all[@]}"
