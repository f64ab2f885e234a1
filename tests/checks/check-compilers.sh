#!/usr/bin/env bash
# check-compilers.sh [--full] [CHAPTER...]: what the simulator counts must not depend on the C++ compiler behind it.
# Builds each lesson program with g++ and with clang++, runs each twice, and compares the reports byte for byte. The build's own programs
# are taken where g++ has made them.
# --full: at the programs' default sizes, and compiled with -O0 and -O2 as well. Exit code 77: a compiler is missing.
# BUILD (default build/sim) is the simulator's build folder.
set -eu -o pipefail
cd "$(dirname "$0")/../.."
build=$(cd "${BUILD:-build/sim}" && pwd)
full=0
if [ "${1:-}" = --full ]; then
  full=1
  shift
fi
if [ $# = 0 ]; then
  cd chapters
  set -- [0-9][0-9]_*/main.cu
  set -- "${@%/main.cu}"
  cd ..
fi

for cxx in g++ clang++; do
  command -v $cxx >/dev/null || { echo "skipped: $cxx is not here"; exit 77; }
done
if [ $# -gt 1 ]; then  # chapters are independent: as many at a time as there are cores
  options=()
  [ $full = 0 ] || options=(--full)
  printf '%s\n' "$@" |
    BUILD=$build xargs -P "$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)" -n 1 tests/checks/check-compilers.sh ${options[@]+"${options[@]}"} || exit 1
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
unset TILEWISE_CXX TILEWISE_COUNT TILEWISE_FINDINGS TILEWISE_DEVICE

# report NAME PROGRAM ARGUMENT...: runs it, its report in NAME.json
report() {
  local name=$1 status=0
  shift
  TILEWISE_REPORT="$folder/$name.json" "$@" >"$folder/$name.txt" 2>&1 || status=$?
  [ $status = 0 ] || [ $status = 2 ] || { cat "$folder/$name.txt"; echo "$name: exit code $status"; exit 1; }
  return $status
}

by_gcc=0
! grep -q '^CMAKE_CXX_COMPILER_ID.*GNU\|set(CMAKE_CXX_COMPILER_ID "GNU")' "$build"/CMakeFiles/*/CMakeCXXCompiler.cmake || by_gcc=1
different=0
for chapter in "$@"; do
  libraries=()
  for library in cublas cusparse; do
    ! grep -qr "tilewise/$library\|<$library" "chapters/$chapter" --include=*.cu --include=*.cuh --include=*.hpp ||
      libraries+=("-l$library")
  done
  versions=("g++" "clang++")
  [ $full = 0 ] || versions+=("g++ -O0" "g++ -O2" "clang++ -O0" "clang++ -O2")
  first="" launches=0
  for version in "${versions[@]}"; do
    read -r cxx level <<<"$version"
    program=$folder/program
    if [ "$version" = g++ ] && [ $by_gcc = 1 ]; then
      program=$build/bin/$chapter
    else
      "$build/bin/simcc" --cxx="$cxx" ${level:+"$level"} "chapters/$chapter/main.cu" -o "$program" \
        -DTILEWISE_SOURCE_DIR='"."' -Icommon/include -I"chapters/$chapter" "$build"/common/libtilewise_{matrices,common,compare}.a \
        ${libraries[@]+"${libraries[@]}"} -lfmt -ldl -pthread
    fi
    size=(--n 40)
    [ $full = 0 ] || size=()
    for run in 1 2; do
      name=$version-$run
      # A program that knows no --n runs at its default size.
      report "$name" "$program" ${size[@]+"${size[@]}"} || { size=() && report "$name" "$program"; }
      [ -n "$first" ] || { first=$name && launches=$(grep -c '"kernel":' "$folder/$name.json"); }
      cmp -s "$folder/$first.json" "$folder/$name.json" && continue
      echo "$chapter: the report of $name differs from that of $first"
      diff "$folder/$first.json" "$folder/$name.json" | head -n 20 || true
      different=1
    done
  done
  echo "$chapter: $launches launches, $((2 * ${#versions[@]})) reports compared"
done
exit $different
