# shellcheck shell=bash disable=SC2034
# Shared by the scripts beside it: which machine, and a quiet build. To be sourced, with bash 3.2 or newer.
set -eu -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."

die() {  # die CODE MESSAGE
  echo "$2" >&2
  exit "$1"
}

chapters() {  # every chapter that there is, in order
  local folder
  for folder in chapters/[0-9][0-9]_*; do
    if [ -e "$folder/main.cu" ] || [ -e "$folder/main.py" ]; then basename "$folder"; fi
  done
  return 0
}
is_python() { [ -e "chapters/$1/main.py" ]; }  # is_python CHAPTER: its lesson program is Python

find_nvcc() { command -v nvcc || { [ -x /usr/local/cuda/bin/nvcc ] && echo /usr/local/cuda/bin/nvcc; }; }
has_gpu() { { nvidia-smi -L 2>/dev/null | grep -q '^GPU'; } || [ -e /dev/nvidia0 ]; }

# task_folder NAME: where the task in one file of this name is; nothing where there is none.
task_folder() {
  local root
  [[ $1 =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || return 0
  for root in ${TILEWISE_TASKS:+"$TILEWISE_TASKS"} tasks tests/grader/tasks; do
    if [ -e "$root/$1/task.cu" ]; then
      echo "$root/$1"
      return
    fi
  done
}

# Sets `machine` to sim or gpu and says in one line which and why. MACHINE=sim|gpu decides when it is set.
pick_machine() {
  local why
  case ${MACHINE:-} in
    sim) machine=sim why="MACHINE=sim" ;;
    gpu)
      find_nvcc >/dev/null || die 2 "MACHINE=gpu needs nvcc, which is neither on PATH nor in /usr/local/cuda/bin."
      has_gpu || die 2 "MACHINE=gpu needs an NVIDIA GPU: nvidia-smi lists none. (To only compile: cmake --preset compile.)"
      machine=gpu why="MACHINE=gpu"
      ;;
    "")
      if ! has_gpu; then machine=sim why="no NVIDIA GPU was found"
      elif ! find_nvcc >/dev/null; then machine=sim why="there is a GPU, but no nvcc"
      else machine=gpu why="an NVIDIA GPU and nvcc were found"
      fi
      ;;
    *) die 2 "MACHINE is '$MACHINE'; it must be sim or gpu." ;;
  esac
  if [ $machine = sim ]; then echo "Machine: the simulator ($why)."; else echo "Machine: the GPU ($why)."; fi
}

# Shows a build's progress on one line of a terminal, and $heading above it once there is something to build.
progress() {
  local terminal=0
  [ ! -t 1 ] || terminal=1
  awk -v heading="${heading:-}" -v terminal=$terminal '
    /^\[/ && !/Re-checking|Re-running|Built target/ {
      if (heading != "") print heading
      heading = ""
      if (terminal) printf "\r\033[K%s", substr($0, 1, 100)
      fflush()
    }
    END { if (terminal) printf "\r\033[K" }'
}

# quietly NAME LOG COMMAND...: runs it with its output in LOG, and shows the output only when it fails.
quietly() {
  local name=$1 log=$2 status=0
  shift 2
  { "$@" 2>&1 | tee -a "$log" | progress; } || status=$?
  if [ $status != 0 ]; then
    # The last step's output is at the end; lines of steps that went well are left out.
    grep -vE '^\[ *[0-9]+(%|/[0-9]+)\] ' "$log" | tail -n 40 >&2 || true
    die 1 "$name failed; the whole log is $log"
  fi
}

# alone FOLDER COMMAND...: waits until nobody else builds in that folder.
alone() {
  local folder=$1
  shift
  if command -v flock >/dev/null; then flock "$folder/.lock" "$@"; else "$@"; fi
}

# build PRESET [TARGET...]: installs what is missing, configures once, builds. A target may be a chapter in Python.
build() {
  local preset=$1 folder=build/$1 purpose=sim started=$SECONDS target
  local targets=() in_python=()
  shift
  for target in "$@"; do
    if is_python "$target"; then in_python+=("$target"); else targets+=("$target"); fi
  done
  if [ ${#in_python[@]} -gt 0 ] && [ "$preset" = sim ]; then targets+=(simulator); fi
  set -- ${targets[@]+"${targets[@]}"}
  case $preset in gpu | compile) purpose=gpu ;; esac
  common/scripts/run/setup.sh $purpose
  mkdir -p "$folder"
  : >"$folder/build.log"
  if [ ! -e "$folder/build.ninja" ] && [ ! -e "$folder/Makefile" ]; then
    rm -f "$folder/CMakeCache.txt"
    if [ -z "${CMAKE_GENERATOR:-}" ] && command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi
    echo "Configuring $folder"
    quietly "Configuring" "$folder/build.log" cmake --preset "$preset"
  fi
  if [ $# -gt 0 ] || [ ${#in_python[@]} = 0 ]; then
    [ $# = 0 ] || set -- --target "$@"
    heading="Building $folder" quietly "The build" "$folder/build.log" alone "$folder" cmake --build --preset "$preset" --parallel "$(jobs_to_use)" "$@"
  fi
  for target in ${in_python[@]+"${in_python[@]}"}; do common/scripts/run/python-lesson.sh "$preset" "$target"; done
  if [ $((SECONDS - started)) -gt 2 ]; then echo "Built in $((SECONDS - started)) s"; fi
}

# build_tool NAME: a host program of one file that needs nothing but the compiler, as build/tools/NAME.
build_tool() {
  local source=common/tools/$1.cpp program=build/tools/$1
  [ "$program" -nt "$source" ] && return
  mkdir -p build/tools
  "${CXX:-c++}" -std=c++20 -O1 -Wall -Wextra "$source" -o "$program" || die 1 "$source does not compile"
}

jobs_to_use() { getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2; }

# Splits ARGS into the array `args`, at blanks. What stands between quotes, '...' or "...", stays together.
read_args() {
  local text=${ARGS:-} word="" begun="" quote="" c i
  args=()
  for ((i = 0; i < ${#text}; ++i)); do
    c=${text:i:1}
    if [ -n "$quote" ]; then
      if [ "$c" = "$quote" ]; then quote=""; else word+=$c; fi
    else
      case $c in
        \" | \') quote=$c begun=1 ;;
        [[:space:]])
          if [ -n "$begun" ]; then args+=("$word"); fi
          word="" begun=""
          ;;
        *) word+=$c begun=1 ;;
      esac
    fi
  done
  [ -z "$quote" ] || die 2 "ARGS is $text, where a $quote is never closed."
  if [ -n "$begun" ]; then args+=("$word"); fi
}

# Where SAMPLE is given, the simulator counts so many blocks of each launch.
read_sample() {
  [ -n "${SAMPLE:-}" ] || return 0
  [[ $SAMPLE =~ ^[1-9][0-9]{0,8}$|^1000000000$ ]] || die 2 "SAMPLE is '$SAMPLE'; it must be a number of blocks, 1 to 1000000000."
  export TILEWISE_SAMPLE=$SAMPLE
}
