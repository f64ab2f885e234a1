#!/usr/bin/env bash
# check-install.sh: simcc and grade from an installation, read-only, while the repository and its build are out of sight. Where the
# system allows no mounts, both are in sight, and nothing that simcc starts may name them.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
repository=$PWD work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
make install PREFIX="$work/prefix"
cp tests/checks/hello.cu tests/02_tiled_matmul/homework/solution.cu tests/02_tiled_matmul/homework/starter.cu "$work"
cp tests/grader/tasks/tone/solution.cu "$work/tone.cu"

# As somebody uses it: a program of one's own, a chapter, and a task in one file, which is compiled first.
# shellcheck disable=SC2016
use='
set -eu
cd "$1"
export XDG_CACHE_HOME=$1/cache
says() { grep -q -- "$1" said || { echo "\"$1\" is not in:"; cat said; exit 1; }; }
prefix/bin/simcc -v hello.cu -o hello 2>commands
if grep -F "$2" commands; then echo "that names the repository"; exit 1; fi
./hello >said
says "^1 4 9 16$"
prefix/bin/grade 02 --file solution.cu >said || { cat said; exit 1; }
says "100 of 100"
prefix/bin/grade 02 --file starter.cu >said && { echo "the starter is right"; exit 1; }
says "no kernel was launched"
prefix/bin/grade tone --file tone.cu >said || { cat said; exit 1; }
says "100 of 100"'
# shellcheck disable=SC2016
hide='
set -eu
mount -t tmpfs none "$2"
mount --bind "$1/prefix" "$1/prefix"
mount -o remount,bind,ro "$1/prefix"
if touch "$1/prefix/written" 2>/dev/null || [ -e "$2/Makefile" ]; then exit 1; fi'
enter=(unshare --mount)
[ "$(id -u)" = 0 ] || enter=(unshare --map-root-user --mount)
if "${enter[@]}" bash -c "$hide" bash "$work" "$repository" 2>"$work/why"; then
  "${enter[@]}" bash -c "$hide$use" bash "$work" "$repository"
else
  echo "The repository is in sight: $(tail -n 1 "$work/why")"
  bash -c "$use" bash "$work" "$repository"
fi
