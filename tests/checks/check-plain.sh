#!/usr/bin/env bash
# check-plain.sh: every chapters/*/plain.cu on the simulator, alone in a folder with its chapter's kernels, compiled by the
# command in the comment it begins with: it must say "right" and exit with 0. Then with its kernel broken: it must say "WRONG" and
# exit with 1.
# check-plain.sh FILE: one of them.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
if [ $# = 0 ]; then  # as many at a time as there are cores
  build sim simulator
  printf '%s\n' chapters/*/plain.cu chapters/*/plain.py | xargs -P "$(jobs_to_use)" -n 1 tests/checks/check-plain.sh || exit 1
  exit 0
fi

# What breaks each kernel: a command for sed.
broken() {
  case $1 in
    00_*) echo 's/if (i >= n) return/if (i + 1 >= n) return/' ;;  # the last pixel is forgotten
    01_*) echo 's/k < K; ++k/k < K - 1; ++k/' ;;  # the last product is left out
    02_*) echo 's/col < N ? B/col < N - 1 ? B/' ;;  # the last column of B is taken for zeros
    03_*) echo 's/sum += tile\[lane\]/sum = tile[lane]/' ;;  # no sum at all
    04_*) echo 's/= tile\[tx\]\[ty\]/= tile[ty][tx]/' ;;  # tiles are moved, and not transposed
    05_*) echo 's/if (i < count) out\[i\] = in/if (i + 1 < count) out[i] = in/' ;;  # the last word is forgotten
    06_*) echo 's/apart = LANES \/ 2/apart = LANES \/ 4/' ;;  # half of the lanes are not added
    07_*) echo 's/n, m, k, &alpha, B/n, m, k - 1, \&alpha, B/' ;;  # the last product is left out
    08_*) echo 's/unsigned i = 0; i < fmas/unsigned i = 1; i < fmas/' ;;  # one multiply-add is left out
    09_* | 10_* | 11_* | 12_*) echo 's/sum\[i\]\[j\] += a\[i\]/sum[i][j] = a[i]/' ;;  # no sum at all
    13_*) echo 's/k < kDepth; k += 16/k < kDepth; k += 32/' ;;  # half of each tile is left out
    14_*) echo 's/distance = 16; distance/distance = 8; distance/' ;;  # half of each warp is not added
    15_*) echo 's/x = 1 - x/x = 2 - x/' ;;  # another number is worked on
    16_*) echo 's/other = 16; other/other = 8; other/' ;;  # half of each warp is not added
    *) return 1 ;;
  esac
}

simcc=$PWD/build/sim/bin/simcc
for file in "$@"; do
  case $file in *.py) continue ;; esac
  chapter=$(basename "$(dirname "$file")")
  folder=build/plain/$chapter
  rm -rf "$folder"
  mkdir -p "$folder"
  cp "$file" chapters/"$chapter"/*.cuh "$folder"
  # "//   nvcc plain.cu -lcublas -o plain && ./plain ..."
  read -r -a command <<<"$(sed -nE 's|^// +nvcc (plain\.cu .*-o plain) && \./plain .*|\1|p' "$file")"
  [ ${#command[@]} != 0 ] || die 1 "$file: no line says how to compile it"
  for way in right WRONG; do
    expected=0
    if [ $way = WRONG ]; then
      expected=1
      edit=$(broken "$chapter") || die 1 "check-plain.sh does not know how to break the kernel of $chapter"
      for kernels in "$folder"/*.cuh; do sed -i.right "$edit" "$kernels"; done
      [ "$(cat "$folder"/*.cuh)" != "$(cat "$folder"/*.cuh.right)" ] || die 1 "$chapter: sed '$edit' changes nothing"
    fi
    (cd "$folder" && "$simcc" "${command[@]}") || die 1 "$file does not compile with simcc"
    status=0
    # Three devices, which one about several devices finds; to the others it is nothing.
    said=$(TILEWISE_DEVICES=3 "$folder/plain" 2>&1) || status=$?
    echo "$chapter: $said"
    if [ $status != $expected ] || ! grep -q "^$way: " <<<"$said"; then
      die 1 "$file: exit code $status; expected \"$way\" and $expected"
    fi
  done
done

# Programs in Python load a library of earlier chapters' kernels, of which 02's is broken.
for file in "$@"; do
  case $file in *.cu) continue ;; esac
  command -v python3 >/dev/null || { echo "$file: python3 is not here"; break; }
  chapter=$(basename "$(dirname "$file")")
  folder=build/plain/$chapter
  rm -rf "$folder"
  mkdir -p "$folder"
  cp -r chapters "$folder/chapters"
  read -r -a command <<<"$(sed -nE 's|^# +nvcc (.* -o libplain\.so) && python3 plain\.py$|\1|p' "$file")"
  [ ${#command[@]} != 0 ] || die 1 "$file: no line says how to compile its library"
  for way in right WRONG; do
    expected=0
    if [ $way = WRONG ]; then
      expected=1
      edit=$(broken 02_)
      sed -i.right "$edit" "$folder"/chapters/02_tiled_matmul/*.cuh
    fi
    (cd "$folder/chapters/$chapter" && "$simcc" "${command[@]}") || die 1 "$file: its library does not compile with simcc"
    status=0
    said=$(cd "$folder/chapters/$chapter" && python3 plain.py 2>&1) || status=$?
    echo "$chapter: $said"
    if [ $status != $expected ] || ! grep -q "^$way: " <<<"$said"; then
      die 1 "$file: exit code $status; expected \"$way\" and $expected"
    fi
  done
done
