#!/usr/bin/env bash
# python-lesson.sh sim|gpu CHAPTER: builds a lesson that is written in Python, chapters/CHAPTER/main.py: its module, into an environment
# of its own, build/MACHINE/python, and build/MACHINE/bin/CHAPTER, which starts it. Where there is no Python with venv, or PyPI cannot
# be reached, that program says so instead, and the lesson is skipped. Quiet when everything is up to date.
source "$(dirname "$0")/lib.sh"
machine=$1 chapter=$2
program=build/$machine/bin/$chapter environment=build/$machine/python log=build/$machine/python.log
mkdir -p "build/$machine/bin"

# The module has to be built again when its own files, a kernel or the simulator has changed.
stamp=$environment/$chapter.built
built_from=(chapters/"$chapter"/*.{cu,cpp,hpp,toml,txt} chapters/"$chapter"/src chapters/*/*.cuh "${BASH_SOURCE[0]}")
[ "$machine" = gpu ] || built_from+=(build/sim/bin/simcc build/sim/common/simulator/libtilewise_sim.a)
if [ -e "$stamp" ] && [ -z "$(find "${built_from[@]}" -not -name __pycache__ -newer "$stamp" | head -n 1)" ]; then exit 0; fi

skip() {  # skip REASON: the lesson program says why it does nothing
  echo "Lesson $chapter is skipped: $1"
  rm -f "$stamp"
  printf '#!/usr/bin/env bash\nexec "%s/common/scripts/run/skipped-lesson.sh" %q %q "$@"\n' "$PWD" "$chapter" "$1" >"$program.new"
  chmod +x "$program.new"
  mv "$program.new" "$program"
  exit 0
}
: >"$log"
command -v python3 >/dev/null || skip "python3 is not here"
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' || skip "python3 is older than 3.9"
if [ ! -x "$environment/bin/python" ] || ! "$environment/bin/python" -m pip --version >/dev/null 2>&1; then
  rm -rf "$environment"
  # On a GPU the environment sees PyTorch and CuPy, where they are installed.
  see=(--system-site-packages)
  [ "$machine" = gpu ] || see=()
  python3 -m venv ${see[@]+"${see[@]}"} "$environment" >>"$log" 2>&1 || {
    rm -rf "$environment"
    skip "python3 -m venv does not work (Debian, Ubuntu: apt-get install python3-venv)"
  }
fi
pip=("$environment/bin/python" -m pip --disable-pip-version-check --quiet)
needs=('nanobind>=2.4' 'scikit-build-core>=0.10' 'numpy>=1.22' 'pytest>=7')
if ! "${pip[@]}" install --no-index "${needs[@]}" >/dev/null 2>&1; then
  echo "Installing nanobind, scikit-build-core, numpy and pytest from PyPI into $environment"
  "${pip[@]}" install --retries 2 "${needs[@]}" >>"$log" 2>&1 </dev/null || skip "PyPI cannot be reached ($log)"
fi
echo "Building the module of $chapter"
quietly "The module of $chapter" "$log" "${pip[@]}" install --no-build-isolation --no-deps "./chapters/$chapter" -C "cmake.define.TILEWISE_MACHINE=$machine"
printf '#!/usr/bin/env bash\nexec "%s/%s/bin/python" "%s/chapters/%s/main.py" "$@"\n' "$PWD" "$environment" "$PWD" "$chapter" >"$program.new"
chmod +x "$program.new"
mv "$program.new" "$program"
touch "$stamp"
