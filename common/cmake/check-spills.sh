#!/usr/bin/env bash
# check-spills.sh BUILD_FOLDER CHAPTER...
# Writes BUILD_FOLDER/ptxas.txt, one line per chapter kernel and architecture, and fails when one spills registers.
set -eu
build=$1
shift

demangle() { if command -v c++filt >/dev/null; then c++filt; else cat; fi; }

for chapter in "$@"; do
  find "$build" -path "*/$chapter.dir/*.ptxas" -exec cat {} + |
    awk -v chapter="$chapter" '
      /Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; arch = part[4] }
      /bytes stack frame/        { stores = $5; loads = $9 }
      /Used [0-9]+ registers/    {
        for (i = 1; i < NF; i++) { if ($i == "Used") registers = $(i + 1) }
        shared = 0
        if (match($0, /[0-9]+ bytes smem/)) shared = substr($0, RSTART, RLENGTH) + 0
        printf "%-20s %-7s %3d registers %6d B shared %4d B spilled  %s\n",
               chapter, arch, registers, shared, stores + loads, kernel
      }'
done | demangle >"$build/ptxas.txt"

if [[ ! -s $build/ptxas.txt ]]; then
  echo "check-spills: ptxas reported no chapter kernel in $build" >&2
  exit 1
fi
if grep -vE ' 0 B spilled' "$build/ptxas.txt"; then
  echo "check-spills: the chapter kernels above spill registers" >&2
  exit 1
fi
echo "$(wc -l <"$build/ptxas.txt") kernel builds, none spills: $build/ptxas.txt"
