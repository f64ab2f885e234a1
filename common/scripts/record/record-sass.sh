#!/usr/bin/env bash
# record-sass.sh [--check]: what nvcc makes of the kernels in tests/simulator/as_compiled/kernels.cuh, read off its machine code
# for sm_90a: how many instructions load from and store to global and shared memory. --check compares instead of writing.
# Needs nvcc, cuobjdump (both of the CUDA Toolkit) and c++filt; no GPU.
set -euo pipefail
cd "$(dirname "$0")/../../.."
data=tests/simulator/as_compiled/sass.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo '#include "kernels.cuh"' >"$work/kernels.cu"
nvcc -std=c++20 -arch=sm_90a -I tests/simulator/as_compiled -cubin -o "$work/kernels.cubin" "$work/kernels.cu"
{
  echo "# kernel, straight or loop, then instructions: LDG STG LDS STS. Written by common/scripts/record/record-sass.sh with nvcc" \
    "$(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')."
  cuobjdump -sass "$work/kernels.cubin" | c++filt | awk '
    function finish() {
      if (name != "") print name, loop ? "loop" : "straight", n["LDG"] + 0, n["STG"] + 0, n["LDS"] + 0, n["STS"] + 0
    }
    function number(text,   i, value) {           # hexadecimal
      value = 0
      for (i = 1; i <= length(text); i++) value = 16 * value + index("0123456789abcdef", substr(text, i, 1)) - 1
      return value
    }
    /Function : / {
      finish()
      name = $3; sub(/^as_compiled::/, "", name); sub(/\(.*/, "", name)
      loop = 0; ended = 0; delete n
      next
    }
    match($0, /^[ \t]*\/\*[0-9a-f]+\*\//) {
      split($0, part, /\/\*|\*\//)
      at = number(part[2]); text = part[3]
      sub(/^[ \t]+/, "", text); sub(/^@!?U?P[0-9T]+ +/, "", text)
      split(text, word, /[ .;]/)
      if (word[1] == "CALL") loop = 1
      if (word[1] == "BRA" && match(text, /0x[0-9a-f]+/)) {
        to = number(substr(text, RSTART + 2, RLENGTH - 2))
        if (to < at) loop = 1                     # the last instruction branches to itself
      }
      if (word[1] ~ /^(LDG|STG|LDS|STS)$/) n[word[1]]++
    }
    END { finish() }' | sort
} >"$work/sass.txt"
if [[ ${1-} == --check ]]; then
  diff "$data" "$work/sass.txt"
else
  cp "$work/sass.txt" "$data"
fi
