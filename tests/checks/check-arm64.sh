#!/usr/bin/env bash
# check-arm64.sh [--full]: the simulator on arm64 Linux, without such a machine: cross-compiled by Debian's g++-aarch64-linux-gnu, run by
# qemu-aarch64-static. Lessons 00 to 02 print and count what they do on x86-64, byte for byte; the launches of the validation set count
# what an H200 does; homework 02 and tests of findings end as on x86-64. Each commit runs three other test cases of findings, and those
# that are left count as skipped.
# --full: all of them, all lessons, and all tests of the simulator that start no programs (an hour or more).
# Last line: "N passed, N failed, N skipped". Exit code 77: what it needs is neither here nor to be had.
# BUILD (default build/sim) is the build for x86-64 to compare with.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1
folder=$PWD/build/arm64 root=$PWD/build/arm64/root prefix=/usr/aarch64-linux-gnu
here=$(cd "${BUILD:-build/sim}" && pwd) || exit 1
jobs=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
full=0
[ "${1:-}" != --full ] || full=1
unset TILEWISE_CXX TILEWISE_COUNT TILEWISE_FINDINGS TILEWISE_DEVICE TILEWISE_REPORT

skip_all() {
  echo "skipped: $1"
  exit 77
}

# ---- what it needs
[ "$(uname -s) $(uname -m)" = "Linux x86_64" ] || skip_all "this is not Linux on x86-64, which is compared with"
command -v apt-get >/dev/null || skip_all "apt-get, which brings the packages for arm64, is not here"
if ! command -v aarch64-linux-gnu-g++ qemu-aarch64-static >/dev/null; then
  common/scripts/run/setup.sh arm64 || skip_all "g++-aarch64-linux-gnu and qemu-user-static cannot be installed"
fi
mkdir -p "$folder"

# Libraries for arm64, unpacked into a folder of their own: nothing of this machine's packages changes.
fetch_packages() {
  local apt=$folder/apt from
  from=(-o APT::Architecture=arm64 -o APT::Architectures=arm64 -o Debug::NoLocking=1 -o "Dir::State=$apt/state"
    -o "Dir::State::status=$apt/status" -o "Dir::Cache=$apt/cache")
  mkdir -p "$apt/state/lists/partial" "$apt/cache/archives/partial" "$apt/packages"
  : >"$apt/status"
  apt-get "${from[@]}" update && (
    set -e
    cd "$apt/packages"
    context=$(apt-cache "${from[@]}" depends libboost-context-dev | sed -n 's/.*Depends: //p' | head -n 1)
    format=$(apt-cache "${from[@]}" depends libfmt-dev | sed -n 's/.*Depends: //p' | head -n 1)
    apt-get "${from[@]}" download "$context" "${context/-context/}" libfmt-dev "$format" nlohmann-json3-dev libcli11-dev \
      libeigen3-dev catch2 libseccomp-dev libseccomp2
    rm -rf "$root.new" "$root"
    for package in *.deb; do dpkg-deb -x "$package" "$root.new"; done
    mv "$root.new" "$root"
  )
}
if [ ! -e "$root" ] && ! fetch_packages >"$folder/packages.log" 2>&1; then
  tail -n 5 "$folder/packages.log"
  skip_all "the packages for arm64 cannot be had (build/arm64/packages.log)"
fi

# ---- where programs of arm64 can be started like others: in namespaces of its own, whose binfmt_misc nobody else sees (Linux 6.7)
mkdir -p "$folder/tools"
printf '#!/bin/sh\nexec %s -L %s "$@"\n' "$(command -v qemu-aarch64-static)" $prefix >"$folder/tools/run-aarch64"
chmod +x "$folder/tools/run-aarch64"
ln -sf "$(command -v aarch64-linux-gnu-addr2line)" "$folder/tools/addr2line"  # reads programs of its own machine only
inside() {
  # shellcheck disable=SC2016
  PATH=$folder/tools:$PATH unshare --user --map-root-user --mount bash -c '
    mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc || exit 99
    elf="\\x7fELF\\x02\\x01\\x01" zeros="\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
    mask="\\xff\\xff\\xff\\xff\\xff\\xff\\xff" all="\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xff"
    echo ":tilewise-aarch64:M::$elf\\x00$zeros\\x02\\x00\\xb7\\x00:$mask\\x00$all\\xfe\\xff\\xff\\xff:$0:" \
      >/proc/sys/fs/binfmt_misc/register || exit 99
    exec "$@"' "$folder/tools/run-aarch64" "$@"
}

passed=0 failed=0 skipped=0
said() {  # said STATUS WHAT [LOG]
  if [ "$1" = 0 ]; then
    passed=$((passed + 1))
    echo "ok    $2"
  else
    failed=$((failed + 1))
    echo "FAIL  $2"
    [ -z "${3:-}" ] || tail -n 40 "$3" | sed 's/^/      /'
  fi
}

finish() {
  echo "$passed passed, $failed failed, $skipped skipped"
  [ $failed = 0 ]
  exit
}

# ---- build
lessons=(00_first_kernel 01_naive_matmul 02_tiled_matmul)
targets=(test_simulator_part homework_02_tiled_matmul)
if [ $full = 1 ]; then
  lessons=(chapters/[0-9][0-9]_*/main.cu)
  lessons=("${lessons[@]%/main.cu}") && lessons=("${lessons[@]#chapters/}")
  targets+=(simulator test_simulator)
fi
log=$folder/build.log
if [ ! -e "$folder/build.ninja" ] && [ ! -e "$folder/Makefile" ]; then
  if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi
  # What is compiled here runs for a minute or two: compiling it well would take longer.
  options=()
  [ $full = 1 ] || options=(-DTILEWISE_OPTIMISATION=-O1)
  cmake --preset arm64 ${options[@]+"${options[@]}"} >"$log" 2>&1 || { said 1 "cmake --preset arm64" "$log"; finish; }
fi
status=0
cmake --build --preset arm64 --parallel "$jobs" --target "${lessons[@]}" "${targets[@]}" >"$log" 2>&1 || status=$?
said $status "all is compiled for arm64, by simcc on arm64" "$log"
[ $status = 0 ] || finish

# ---- lessons: what they print, and the report of every launch
report() {  # report NAME COMMAND...
  local name=$1 status=0
  shift
  TILEWISE_REPORT=$folder/$name.json "$@" >"$folder/$name.txt" 2>&1 || status=$?
  [ $status = 0 ] || [ $status = 2 ]
}
compare() {
  local lesson=$1 size=(--n 40)
  # A program that knows no --n runs at its default size.
  "$here/bin/$lesson" --help | grep -q -- '--n ' || size=()
  rm -f "$folder/$lesson".*.json
  report "$lesson.x86-64" "$here/bin/$lesson" ${size[@]+"${size[@]}"} &&
    report "$lesson.arm64" "$folder/tools/run-aarch64" "$folder/bin/$lesson" ${size[@]+"${size[@]}"} &&
    diff "$folder/$lesson.x86-64.json" "$folder/$lesson.arm64.json" && diff "$folder/$lesson.x86-64.txt" "$folder/$lesson.arm64.txt"
}
for lesson in "${lessons[@]}"; do
  [ -x "$here/bin/$lesson" ] || skip_all "$lesson is not built for x86-64: make tour"
  status=0
  compare "$lesson" >"$folder/compare.log" 2>&1 || status=$?
  said $status "$lesson: $(grep -c '"kernel":' "$folder/$lesson.x86-64.json") launches, counts and output as on x86-64" "$folder/compare.log"
done

# ---- tests that start programs
status=0
inside true 2>"$folder/inside.log" || status=$?
if [ $status != 0 ]; then
  echo "Skipped from here on: programs of arm64 cannot start others here, $(tail -n 1 "$folder/inside.log")"
  skipped=3
  finish
fi

mapfile -t cases < <("$folder/tools/run-aarch64" "$folder/bin/test_simulator_part" --list-test-names-only '[programs]')
# shellcheck disable=SC2317  # xargs runs it
run_case() {
  local log=$folder/case-$1.log status=0
  inside "$folder/bin/test_simulator_part" "$2" >"$log" 2>&1 || status=$?
  echo "$status" >"$folder/case-$1.status"
}
export -f run_case inside
export folder
rm -f "$folder"/case-*
first=0 some=3
if [ $full = 1 ]; then some=${#cases[@]}; else first=$(($(git rev-list --count HEAD 2>/dev/null || echo 0) * some % ${#cases[@]})); fi
chosen=()
for ((i = 0; i < some; ++i)); do chosen+=($(((first + i) % ${#cases[@]}))); done
# First what isn't about findings: FLOP, alignment, the launches that an H200 has counted, and the rewriter's own tests.
{
  printf '%s\0%s\0' counts '~[programs]~[all]'
  for i in "${chosen[@]}"; do printf '%s\0%s\0' "$i" "${cases[i]//,/\\,}"; done
} | xargs -0 -n 2 -P "$jobs" bash -c 'run_case "$@"' run_case
said "$(cat "$folder/case-counts.status")" "FLOP, alignment, the validation set as written and as compiled, the rewriter" "$folder/case-counts.log"
for i in "${chosen[@]}"; do said "$(cat "$folder/case-$i.status")" "${cases[i]}" "$folder/case-$i.log"; done
skipped=$((skipped + ${#cases[@]} - some))

grade_it() {  # grade_it FILE: what grade says of it, in grade-FILE.log
  XDG_CACHE_HOME=$folder/cache inside "$folder/bin/grade" 02 --unsafe --file "tests/02_tiled_matmul/homework/$1.cu" >"$folder/grade-$1.log" 2>&1
}
grades() {  # grades FILE SCORE
  local status=0
  grep -qE "^  homework 02 +$2 of 100" "$folder/grade-$1.log" || status=1
  said $status "homework 02, $1: $2 of 100" "$folder/grade-$1.log"
}
grade_it solution &
grade_it starter
wait
grades solution 100
grades starter "$("$here/bin/grade" 02 --unsafe --file tests/02_tiled_matmul/homework/starter.cu | sed -nE 's/^  homework 02 +([0-9]+) of 100.*/\1/p')"

if [ $full = 1 ]; then
  status=0
  inside "$folder/bin/test_simulator" '~[programs]~[all]' >"$folder/tests.log" 2>&1 || status=$?
  said $status "all tests of the simulator that start no programs" "$folder/tests.log"
else
  skipped=$((skipped + 1))
fi
finish
