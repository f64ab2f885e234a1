#!/usr/bin/env bash
# learn.sh: the puzzles, chapters/*/puzzles: shows one, and judges it whenever its file is saved. FROM=03-2 begins there.
# learn.sh puzzle 03-2: judges that one once; exit code 0 solved, 1 not, 2 no such puzzle. ARGS="--hints 1", "--solution".
# learn.sh list: all puzzles, and which are solved.
source "$(dirname "$0")/lib.sh"
build sim learn
read_args
case ${1:-loop} in
  loop) exec build/sim/bin/learn ${FROM:+--from "$FROM"} ${args[@]+"${args[@]}"} ;;
  puzzle) exec build/sim/bin/learn --judge "$2" ${args[@]+"${args[@]}"} ;;
  list) exec build/sim/bin/learn --list ${args[@]+"${args[@]}"} ;;
  *) die 2 "learn.sh: $1?" ;;
esac
