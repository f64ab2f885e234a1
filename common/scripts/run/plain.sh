#!/usr/bin/env bash
# plain.sh CHAPTER: compiles and runs chapters/CHAPTER/plain.cu as the comment it begins with says, with simcc instead of nvcc on
# the simulator. MACHINE chooses where. plain.py is Python that loads a library: that one is compiled, and Python runs.
source "$(dirname "$0")/lib.sh"
source=chapters/$1/plain.cu
if is_python "$1"; then source=chapters/$1/plain.py; fi
[ -e "$source" ] || die 2 "There is no $source."
# "//   nvcc plain.cu -lcublas -o plain && ./plain": what stands between plain.cu and -o
how='^// +nvcc plain\.cu (.*)-o plain && .*'
if is_python "$1"; then how='^# +nvcc (.*) -o libplain\.so && python3 plain\.py$'; fi
grep -qE "$how" "$source" || die 1 "$source does not say how to compile it"
options=$(sed -nE "s|$how|\1|p" "$source")
pick_machine
if [ $machine = sim ]; then
  build sim simulator
  compiler=build/sim/bin/simcc
  if grep -q '<nccl.h>' "$source"; then export TILEWISE_DEVICES=${TILEWISE_DEVICES:-4}; fi  # it is about several devices
else
  compiler=$(find_nvcc)
fi
program=build/$machine/plain/$1
mkdir -p "$(dirname "$program")"
if is_python "$1"; then
  command -v python3 >/dev/null || die 2 "python3 is not here."
  IFS=' ' read -r -a command <<<"$compiler $options"
  command=("${command[@]/#launchers.cu/chapters/$1/launchers.cu}" -o "$program.so")
  echo "${command[*]} && python3 $source $program.so"
  "${command[@]}" || die 1 "$source's library does not compile"
  exec python3 "$source" "$program.so"
fi
read -r -a command <<<"$compiler $source $options -o $program"
echo "${command[*]} && $program"
"${command[@]}" || die 1 "$source does not compile"
exec "$program"
