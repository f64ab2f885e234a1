#!/usr/bin/env bash
# homework.sh: how far the homework of all chapters is.
# homework.sh grade CHAPTER: grades its homework.cu, or FILE=my.cu; WATCH=1: again whenever the file is saved; GPU=1: on this
# machine's GPU, too. ARGS are passed on to the grader (build/sim/bin/grade --help). A score below 100 is no error here.
# homework.sh build [CHAPTER]: builds the grader, and grades nothing.
# homework.sh reset CHAPTER: puts the starter back, and keeps what was there as homework.cu.N.
# homework.sh solution CHAPTER: prints the solution.
source "$(dirname "$0")/lib.sh"
action=${1:-progress} chapter=${2:-}
if [ $# -gt 1 ] && [ ! -e "chapters/$chapter/homework.cuh" ]; then
  echo "Chapter $chapter has no homework. Chapters with homework:" >&2
  for contract in chapters/*/homework.cuh; do echo "  $(dirname "$contract" | xargs basename)" >&2; done
  exit 2
fi
file=chapters/$chapter/homework.cu
case $action in
  progress)
    build sim homework
    exec build/sim/bin/grade --progress
    ;;
  build) build sim "homework${chapter:+_$chapter}" ;;
  grade)
    build sim "homework_$chapter"
    read_args
    [ -z "${GPU:-}" ] || [ "$GPU" = 0 ] || args+=(--gpu)
    [ -z "${WATCH:-}" ] || [ "$WATCH" = 0 ] || args+=(--watch)
    # One's own file needs no cage where the system has none.
    [ "$(uname)" = Linux ] || [ -n "${FILE:-}" ] || args+=(--unsafe)
    status=0
    build/sim/bin/grade "$chapter" --file "${FILE:-$file}" ${args[@]+"${args[@]}"} || status=$?
    [ $status -gt 1 ] && exit $status
    exit 0
    ;;
  reset)
    starter=tests/$chapter/homework/starter.cu
    if cmp -s "$starter" "$file"; then
      echo "$file is the starter."
      exit 0
    fi
    if [ -e "$file" ]; then
      n=1
      while [ -e "$file.$n" ]; do n=$((n + 1)); done
      cp "$file" "$file.$n"
      echo "What was there is now $file.$n"
    fi
    cp "$starter" "$file"
    echo "$file is the starter again."
    ;;
  solution) cat "tests/$chapter/homework/solution.cu" ;;
  *) die 2 "homework.sh: $action?" ;;
esac
