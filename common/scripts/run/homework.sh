#!/usr/bin/env bash
# In all of this, a CHAPTER may also be the name of a task in one file (docs/teaching.md): in the folder that TILEWISE_TASKS names,
# in tasks/, or one of the examples in tests/grader/tasks.
# homework.sh: how far the homework of all chapters is.
# homework.sh grade CHAPTER: grades its homework.cu, or FILE=my.cu; WATCH=1: again whenever the file is saved; GPU=1: on this
# machine's GPU, too. ARGS are passed on to the grader (build/sim/bin/grade --help). A score below 100 is no error here.
# homework.sh build [CHAPTER]: builds the grader, and grades nothing.
# homework.sh reset CHAPTER: puts the starter back, and keeps what was there as homework.cu.N.
# homework.sh solution CHAPTER: prints the solution.
# homework.sh check CHAPTER: grades starter, solution and all attempts that the repository or the teacher has, and says which
# verdict is not as expected.
source "$(dirname "$0")/lib.sh"
action=${1:-progress} chapter=${2:-}
if [ -n "${TILEWISE_TASKS:-}" ] && [ ! -d "$TILEWISE_TASKS" ]; then die 2 "TILEWISE_TASKS is $TILEWISE_TASKS, which is no folder."; fi

# What belongs to the chapter or the task: what learners edit, starter.cu and solution.cu, what to build.
file=chapters/$chapter/homework.cu bank=tests/$chapter/homework target=homework${chapter:+_$chapter}
if [ $# -gt 1 ] && [ ! -e "chapters/$chapter/homework.cuh" ]; then
  bank=$(task_folder "$chapter")
  if [ -z "$bank" ]; then
    if [ ! -d "chapters/$chapter" ]; then
      echo "There is no chapter and no task $chapter. Chapters with homework:" >&2
    elif grep -q 'make homework-[a-z]' "chapters/$chapter/README.md"; then
      echo "Chapter $chapter has no homework of that name, but $(grep -oE 'make homework-[a-z_]+' "chapters/$chapter/README.md" | sort -u | paste -s -d , - | sed 's/,/ and /g'). Chapters with homework:" >&2
    else
      echo "Chapter $chapter has no homework. Chapters with homework:" >&2
    fi
    for contract in chapters/*/homework.cuh; do echo "  $(dirname "$contract" | xargs basename)" >&2; done
    echo "Tasks in one file:" >&2
    for task in "${TILEWISE_TASKS:-tasks}"/*/task.cu tests/grader/tasks/*/task.cu; do
      [ ! -e "$task" ] || echo "  $(dirname "$task" | xargs basename)" >&2
    done
    exit 2
  fi
  file=$bank/homework.cu target=homework_tools
fi
solution=${TILEWISE_TASKS:-.}/$chapter/solution.cu
[ -e "$solution" ] || solution=$bank/solution.cu
case $action in
  progress)
    build sim homework
    exec build/sim/bin/grade --progress
    ;;
  build) build sim "$target" ;;
  grade)
    build sim "$target"
    read_args
    for word in ${args[@]+"${args[@]}"}; do  # a folder of submissions in place of a file; with FILE the grader refuses both
      case $word${FILE:-}${GPU:-}${WATCH:-} in --class | --class=*) exec build/sim/bin/grade "$chapter" "${args[@]}" ;; esac
    done
    if [ -z "${FILE:-}" ] && [ ! -e "$file" ] && [ -e "$bank/starter.cu" ]; then
      cp "$bank/starter.cu" "$file"
      echo "$file is new: a copy of the starter. Write in it."
    fi
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
    starter=$bank/starter.cu
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
  solution)
    [ -e "$solution" ] || die 2 "There is no solution of $chapter here."
    cat "$solution"
    ;;
  check)
    build sim "$target"
    exec build/sim/bin/grade "$chapter" --check-bank
    ;;
  *) die 2 "homework.sh: $action?" ;;
esac
