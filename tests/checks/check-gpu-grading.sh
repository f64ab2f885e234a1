#!/usr/bin/env bash
# check-gpu-grading.sh: tries `grade --gpu` where there is no GPU. A script in nvcc's place compiles with simcc and
# -DFAKE_GPU, so that the program that would run on a GPU runs on the simulator, too, and a submission can be made to
# differ between the two. Everything is as on a GPU but the GPU: the harness, its process and limits, both verdicts, times.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
failures=0
# Times of launches that are repeated are compared here, so each is run.
cat >"$root/repeats.cpp" <<'SOURCE'
#include <cstdlib>
[[gnu::constructor]] static void run_repeats() { setenv("TILEWISE_REPEATS", "run", 1); }
SOURCE
chapter=02_tiled_matmul task=moving_sum
build sim homework_$chapter
cat >"$root/nvcc" <<FAKE
#!/usr/bin/env bash
arguments=()
for a in "\$@"; do case \$a in --expt-relaxed-constexpr | --extended-lambda | -arch=*) ;; *) arguments+=("\$a") ;; esac; done
[[ " \$* " = *" -c "* ]] || arguments+=("$root/repeats.cpp")
exec "$PWD/build/sim/bin/simcc" -DFAKE_GPU --no-inline-caches "-I$PWD/common/simulator/include" "\${arguments[@]}"
FAKE
chmod +x "$root/nvcc"

# graded NAME CODE PATTERN... < SUBMISSION: the verdict on this task ends with that code and has lines like these
# (extended regular expressions); those that begin with ! must not be there.
graded() {
  local name=$1 code=$2 status=0 pattern
  shift 2
  cat >"$root/homework.cu"
  CUDACXX=${nvcc:-$root/nvcc} timeout 300 build/sim/bin/grade "$chapter" --gpu --times small --task "$task" --file "$root/homework.cu" \
    --json "$root/verdict.json" --gradescope "$root/results.json" >"$root/verdict.txt" 2>&1 || status=$?
  for pattern in "$@"; do
    if [ "${pattern#!}" != "$pattern" ]; then
      ! grep -qE -- "${pattern#!}" "$root/verdict.txt" "$root/verdict.json" || status="it says ${pattern#!}"
    else
      grep -qE -- "$pattern" "$root/verdict.txt" "$root/verdict.json" || status="it does not say $pattern"
    fi
  done
  if [ "$status" = "$code" ]; then
    echo "ok    $name"
  else
    failures=$((failures + 1))
    echo "FAIL  $name: $status, expected $code"
    cat "$root/verdict.txt"
  fi
}
# on_gpu CODE: the solution with this instead of the statement that stores the result, on the GPU only; @ is a new line.
# elsewhere CODE: everywhere but there.
store='y\[first + t\] = sum;'
solution=tests/$chapter/homework/solution.cu
grep -q "$store" $solution || die 1 "$solution has no line: $store"
store_is() { sed "s/$store/{@$1@}/" $solution | tr '@' '\n'; }
on_gpu() { store_is "#ifdef FAKE_GPU@$1@#else@y[first + t] = sum;@#endif"; }
elsewhere() { store_is "#ifndef FAKE_GPU@$1@#else@y[first + t] = sum;@#endif"; }

graded "the solution" 0 '8 of 8 shapes right on the simulator and on the Simulated' 'time on the GPU .* the solution takes .* n = 8192$' \
  '"ratio": (0\.[5-9]|1\.)' '"visible_right": 9' '"hidden_right": 8' '"isolation": "no new processes' <$solution
if command -v python3 >/dev/null; then
  tests/checks/check-gradescope.py "$root/results.json" >/dev/null || failures=$((failures + 1))
fi
graded "wrong on the GPU only" 1 '0 of 8 shapes right on both: 8 on the simulator, 0 on the Simulated' 'n = 128, on the Simulated' \
  'on the simulator this shape is right' 'no findings +0 / 20' '!time on the GPU' < <(on_gpu 'y[first + t] = sum + 1;')
graded "wrong on the simulator only" 1 '0 of 8 shapes right on both: 0 on the simulator, 8 on the' 'n = 128, on the simulator' \
  'a GPU need not show a mistake' < <(elsewhere 'y[first + t] = sum + 1;')
graded "wrong on the GPU from 256 elements on" 1 '6 of 9 shapes right on both: 9 on the simulator, 6 on the' 'n = 256, on the Simulated' \
  < <(on_gpu 'y[first + t] = n > 130 ? 0 : sum;')
graded "past the end of its buffer, on the GPU only" 1 'on the Simulated' 'a kernel wrote outside its buffers' 'findings +0 / 20' \
  < <(on_gpu 'y[first + t] = sum; if (first + t == n - 1) y[n] = 1;')
graded "slower on the GPU" 0 '"ratio": ([2-9]|[1-9][0-9])' '[0-9] times as long at n = 8192$' '100 of 100' \
  < <(on_gpu 'for (int k = 0; k < 60; ++k) y[first + t] = sum;')
graded "does not compile for the GPU" 1 'nvcc: .*homework.cu:[0-9]+:.*error' 'does not compile' < <(sed '$a #ifdef FAKE_GPU\n#error only simcc\n#endif' $solution)
graded "calls getenv on the GPU only" 1 'Refused, nothing was run: it calls getenv' \
  < <(sed '1i #ifdef FAKE_GPU\n#include <cstdlib>\nchar* two() { return std::getenv("A"); }\n#endif' $solution)
graded "assembly for the GPU only" 1 'Refused, nothing was run: line 2: asm' < <(sed '1i #ifdef FAKE_GPU\nvoid two() { asm("syscall"); }\n#endif' $solution)
graded "assembly in a macro that is glued together" 1 'Refused, nothing was run: line 1: ##' < <(sed '1i #define GLUE(a, b) a##b' $solution)
graded "crashes on the GPU only" 1 'n = 128, on the Simulated' 'it crashed' \
  < <(sed '1i #ifdef FAKE_GPU\nstruct Crash { Crash() { *(volatile int*)nullptr = 1; } } crash;\n#endif' $solution)

# What is moved may be infinite.
build sim homework_04_transpose
chapter=04_transpose task=rotate graded "infinities in the result" 0 'time on the GPU .* the solution takes' \
  <tests/04_transpose/homework/solution.cu

refused() {  # refused NAME PATTERN CUDACXX
  local status=0
  CUDACXX=$3 timeout 60 build/sim/bin/grade $chapter --gpu --file $solution >"$root/said" 2>&1 || status=$?
  if [ $status = 2 ] && [ "$(wc -l <"$root/said")" = 1 ] && grep -qE "$2" "$root/said"; then
    echo "ok    $1"
  else
    failures=$((failures + 1))
    echo "FAIL  $1: exit code $status"
    cat "$root/said"
  fi
}
refused "no nvcc" 'is no program' "$root/absent"
if ! has_gpu && nvcc=$(find_nvcc); then refused "nvcc, but no GPU" 'needs an NVIDIA GPU that works: there is no NVIDIA driver' "$nvcc"; fi

echo "$failures failures"
[ $failures = 0 ]
