#!/usr/bin/env bash
# check-nvcc.sh build | semantics | homework | beside: nvcc takes everything, without a GPU.
#   build      the preset `compile`: lessons for sm_75 and sm_90a, no chapter kernel spills; their tests, plain.cu and homework for one of the
#              two, by turns
#   semantics  the simulator's tests that say what CUDA does, for one of the two
#   homework   the other right submissions of homework, to PTX
#   beside     the programs that stand beside the lessons, traffic.cu, resident.cu, ..., and the steps of lesson 00
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
nvcc=$(find_nvcc) || { echo "nvcc is not here"; exit 77; }
case ${1:-} in
build | semantics | homework)
  generator=()
  ! command -v ninja >/dev/null || [ -e build/compile/CMakeCache.txt ] || generator=(-G Ninja)
  both=(75 90a)
  # Two commits the one, two the other: a long check comes first in every tenth commit, which would always be even, or always odd.
  one=${both[$(($(git rev-list --count HEAD 2>/dev/null || echo 0) / 2 % 2))]}
  echo "tests, plain programs and homework: sm_$one"
  cmake --preset compile "-DCMAKE_CUDA_ARCHITECTURES=75;90a" "-DTILEWISE_TEST_ARCHITECTURES=$one" ${generator[@]+"${generator[@]}"}
  target=()
  case $1 in semantics) target=(--target cuda_semantics) ;; homework) target=(--target homework_alternatives) ;; esac
  cmake --build --preset compile --parallel "$(jobs_to_use)" ${target[@]+"${target[@]}"}
  exit
  ;;
beside) ;;
*) die 2 "check-nvcc.sh build, semantics, homework or beside" ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for file in chapters/*/*.cu; do
  case $file in */main.cu | */homework.cu | */plain.cu) continue ;; esac
  if grep -q '<nccl.h>' "$file" && ! "$nvcc" -E -x cu - <<<'#include <nccl.h>' >/dev/null 2>&1; then continue; fi
  echo "'$nvcc' -std=c++20 -arch=sm_90a --expt-relaxed-constexpr --extended-lambda -Icommon/include -c -o $work/$(basename "$(dirname "$file")")-$(basename "$file" .cu).o $file"
done >"$work/commands"
for file in chapters/*/steps/*.cu; do
  echo "'$nvcc' -Werror all-warnings -gencode arch=compute_75,code=sm_75 -gencode arch=compute_90a,code=sm_90a -o $work/$(basename "$file" .cu) $file"
done >>"$work/commands"
xargs -P "$(jobs_to_use)" -d '\n' -n 1 bash -c <"$work/commands"
