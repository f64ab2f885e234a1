#!/usr/bin/env bash
# plain.sh CHAPTER: compiles and runs chapters/CHAPTER/plain.cu as the comment it begins with says, with simcc instead of nvcc on
# the simulator. MACHINE chooses where.
source "$(dirname "$0")/lib.sh"
source=chapters/$1/plain.cu
[ -e "$source" ] || die 2 "There is no $source."
# "//   nvcc plain.cu -lcublas -o plain && ./plain": what stands between plain.cu and -o
how='^// +nvcc plain\.cu (.*)-o plain && .*'
grep -qE "$how" "$source" || die 1 "$source does not say how to compile it"
options=$(sed -nE "s|$how|\1|p" "$source")
pick_machine
if [ $machine = sim ]; then
  build sim simulator
  compiler=build/sim/bin/simcc
else
  compiler=$(find_nvcc)
fi
program=build/$machine/plain/$1
mkdir -p "$(dirname "$program")"
read -r -a command <<<"$compiler $source $options -o $program"
echo "${command[*]} && $program"
"${command[@]}" || die 1 "$source does not compile"
exec "$program"
