#!/usr/bin/env bash
# Compiles the chapters' lesson programs with g++ and with clang++, and compares results and reports:
#   tests/simulator/fuzz/compilers.sh [BUILD [CHAPTER...]]
# BUILD is a build folder of the simulator (default build/sim), CHAPTER a folder in chapters/ (default: all).
set -euo pipefail
root=$(cd "$(dirname "$0")/../../.." && pwd)
build=$(realpath "${1:-$root/build/sim}")
shift || true
[ $# -gt 0 ] || set -- $(cd "$root/chapters" && ls)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
different=0
for chapter in "$@"; do
  for cxx in g++ clang++; do
    "$build/bin/simcc" --cxx=$cxx "$root/chapters/$chapter/main.cu" -o "$folder/program" -I"$root/common/include" \
      -I"$root/chapters/$chapter" "$build/common/libtilewise_common.a" -lfmt -ldl -pthread
    TILEWISE_REPORT="$folder/$cxx.json" "$folder/program" >"$folder/$cxx.txt"
  done
  if cmp -s "$folder/g++.json" "$folder/clang++.json"; then
    echo "$chapter: $(grep -c '"kernel":' "$folder/g++.json") launches, identical reports"
  else
    echo "$chapter: reports differ"
    diff "$folder/g++.json" "$folder/clang++.json" | head -n 20 || true
    different=1
  fi
done
exit $different
