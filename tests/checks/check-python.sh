#!/usr/bin/env bash
# check-python.sh: installs the Python package as `pip install .` does, into an environment of its own below build/, looks at
# its type hints and those of lesson 17's module, and runs its tests.
# Ends with 77, and the reason in the last line, where there is no Python with venv or PyPI cannot be reached.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
environment=build/python/venv
mkdir -p build/python
command -v python3 >/dev/null || { echo "python3 is not here"; exit 77; }
python3 -m venv "$environment" || { echo "python3 -m venv does not work (Debian, Ubuntu: apt-get install python3-venv)"; exit 77; }
pip=("$environment/bin/python" -m pip --disable-pip-version-check --quiet)
"${pip[@]}" install 'scikit-build-core>=0.10' 'numpy>=1.22' 'pytest>=7' 'mypy>=1' || { echo "PyPI cannot be reached"; exit 77; }
# Compiling it as well as for who uses it would take longer than all that runs here.
"${pip[@]}" install --no-build-isolation --config-settings=cmake.define.TILEWISE_OPTIMISATION=-O1 '.[test]'
"$environment/bin/python" -m mypy --strict --cache-dir build/python/mypy common/python/tilewise
lesson=chapters/17_from_python  # its tests are among those of `make test`
"$environment/bin/python" -m mypy --strict --cache-dir build/python/mypy $lesson/src/tilewise_kernels
MYPYPATH=$lesson/src "$environment/bin/python" -m mypy --strict --cache-dir build/python/mypy --ignore-missing-imports --follow-imports=silent \
  $lesson/main.py $lesson/table.py $lesson/on_simulator.py
TILEWISE_CACHE=$PWD/build/python/cache exec "$environment/bin/python" -m pytest -q -p no:cacheprovider tests/python
