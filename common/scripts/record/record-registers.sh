#!/usr/bin/env bash
# record-registers.sh           writes common/simulator/base/registers.inc: registers, static shared and local memory per
#                               kernel of the repository, as nvcc's ptxas assigns them; the simulator computes occupancy from it
# record-registers.sh --check   compiles for sm_90 only and fails when the record says something else. Exit code 77
#                               when the record was made with another version of nvcc: there is nothing to compare then
# Needs nvcc, c++filt and no GPU.
set -euo pipefail
cd "$(dirname "$0")/../../.."
record=common/simulator/base/registers.inc
architectures="75 80 86 89 90"
case "${1-}" in
  "") ;;
  --check) architectures=90 ;;
  *) echo "usage: record-registers.sh [--check]" >&2; exit 2 ;;
esac

nvcc=nvcc
command -v nvcc >/dev/null || nvcc=/usr/local/cuda/bin/nvcc
version=$("$nvcc" --version | sed -n 's/.*release .*, V\([0-9.]*\).*/\1/p')
if [[ ${1-} == --check ]]; then
  recorded=$(sed -n 's|^// nvcc \([0-9.]*\)$|\1|p' "$record")
  if [[ $recorded != "$version" ]]; then
    echo "record-registers: $record was made with nvcc $recorded; here is $version"
    exit 77
  fi
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
code=()
for sm in $architectures; do code+=(-gencode "arch=compute_$sm,code=sm_$sm"); done

# Lines FILE|KERNEL|SM|REGISTERS|SHARED|LOCAL, kernels still mangled. The flags are those of the gpu preset.
for source in chapters/*/main.cu tests/simulator/validation/main.cu tests/simulator/registers/kernels.cu; do
  kept=$work/${source//\//_}
  mkdir -p "$kept"
  # What a chapter has beyond the flags of the preset stands in CMakeLists.txt. It is not for other chapters' kernels.
  chapter=$(cut -d/ -f2 <<<"$source") own=.
  read -r -a options <<<"$(sed -nE "s/^add_chapter\($chapter .*NVCC_OPTIONS ([^)]*)\).*/\1/p" CMakeLists.txt)"
  [ ${#options[@]} = 0 ] || own=chapters/$chapter/
  targets=("${code[@]}")
  # wgmma and TMA are in no machine code but that for exactly 9.0, which is called 90a.
  grep -qE "^add_chapter\($chapter .*HOPPER" CMakeLists.txt && targets=("${targets[@]//compute_90,code=sm_90/compute_90a,code=sm_90a}")
  "$nvcc" -std=c++20 ${options[@]+"${options[@]}"} -O3 --expt-relaxed-constexpr -lineinfo -Icommon/include -fatbin -Xptxas -v "${targets[@]}" \
    --keep --keep-dir "$kept" -o "$kept/fatbin" "$source" 2>"$kept/log" || { cat "$kept/log" >&2; exit 1; }
  # PTX: the first `.loc FILE LINE` of an entry is the kernel's own; the table of files comes last.
  ptx=("$kept"/*.ptx)
  awk '/\.entry/ { split($0, part, /\.entry |\(/); kernel = part[2] }
       /^[ \t]*\.loc[ \t]/ && kernel != "" && !/inlined_at/ { file[kernel] = $2; kernel = "" }
       /^[ \t]*\.file/ { split($0, part, "\""); path[$2] = part[2] }
       END { for (kernel in file) print kernel "|" path[file[kernel]] }' "${ptx[0]}" |
    while IFS='|' read -r kernel path; do
      path=$(realpath --relative-to=. "$path")
      [[ $path == ../* || ($own != . && $path != "$own"*) ]] || echo "$kernel|$path"  # of the repository, and not of the Toolkit
    done >"$kept/files"
  awk -v files="$kept/files" '
    BEGIN { while ((getline line < files) > 0) { split(line, part, "|"); path[part[1]] = part[2] } }
    /Compiling entry function/ { split($0, part, "\047"); kernel = part[2]; sm = substr(part[4], 4); sub(/a$/, "", sm); frame = -1 }
    /bytes stack frame/ && frame < 0 { frame = $1 }
    /Used [0-9]+ registers/ && kernel in path {
      match($0, /Used [0-9]+/); registers = substr($0, RSTART + 5, RLENGTH - 5)
      shared = match($0, /[0-9]+ bytes smem/) ? substr($0, RSTART) + 0 : 0
      print path[kernel] "|" kernel "|" sm "|" registers "|" shared "|" (frame < 0 ? 0 : frame)
    }' "$kept/log"
done | c++filt | LC_ALL=C sort -u >"$work/all"

# One line per kernel. A kernel that several programs contain must have come out the same in all of them.
awk -F'|' -v wanted="$architectures" '
  BEGIN { count = split(wanted, sm, " ") }
  { key = $1 "|" $2
    if ((key, $3) in registers && registers[key, $3] != $4) { print "two counts for " $0 > "/dev/stderr"; exit 1 }
    registers[key, $3] = $4; shared[key] = $5; frames[key, $3] = $6
    if (!(key in seen)) { seen[key] = 1; order[++kernels] = key } }
  END {
    for (k = 1; k <= kernels; k++) {
      key = order[k]; split(key, part, "|"); line = local = ""
      for (i = 1; i <= count; i++) {
        line = line (i > 1 ? ", " : "") registers[key, sm[i]]
        local = local (i > 1 ? ", " : "") frames[key, sm[i]] + 0
      }
      printf "{\"%s\", \"%s\", %d, {%s}, {%s}},\n", part[1], part[2], shared[key], line, local
    } }' "$work/all" >"$work/kernels"
[[ -s $work/kernels ]] || { echo "record-registers: ptxas reported no kernel" >&2; exit 1; }

if [[ ${1-} == --check ]]; then
  # sm_90 is the last column of the record.
  sed -n 's/^\({".*, {\)[0-9, ]* \([0-9]*}, {\)[0-9, ]* \([0-9]*}},\)$/\1\2\3/p' "$record" >"$work/recorded"
  if ! diff -u --label recorded --label now "$work/recorded" "$work/kernels"; then
    echo "record-registers: kernels have changed; run common/scripts/record/record-registers.sh and commit $record" >&2
    exit 1
  fi
  echo "$(wc -l <"$work/kernels") kernels as recorded"
  exit 0
fi
{
  echo "// Written by common/scripts/record/record-registers.sh: what nvcc's ptxas assigns to the kernels of the repository."
  echo "// nvcc $version"
  echo "// clang-format off"
  echo "constexpr int kArchitectures[] = {${architectures// /, }};  // sm_75 and so on: the columns of kKernels"
  echo "// {file, kernel, bytes of static shared memory, {registers per thread on each architecture},"
  echo "// {bytes of local memory per thread on each}}"
  echo "constexpr RecordedKernel kKernels[] = {"
  cat "$work/kernels"
  echo "};"
  echo "// clang-format on"
} >"$record"
echo "$(wc -l <"$work/kernels") kernels, nvcc $version: $record"
