#!/usr/bin/env bash
# check-cuda-in-cpp.sh: make sim takes plain C++ under its own name, and CUDA only as .cu.
set -eu
cd "$(dirname "$0")/../.."
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp tests/checks/hello.cu "$folder/hello.cpp"
tests/checks/exits.sh 2 "hello.cpp has CUDA in it.*rename it to .*/hello\.cu$" make sim "FILE=$folder/hello.cpp"
printf '#include <cstdio>\nint main() { std::printf("plain\\n"); }  // no __global__\n' >"$folder/plain.cc"
tests/checks/exits.sh 0 "^plain$" make sim "FILE=$folder/plain.cc"
cp tests/checks/hello.cu "$folder/hello.txt"
tests/checks/exits.sh 2 "has to end with \.cu, that of plain C\+\+ with \.cpp" make sim "FILE=$folder/hello.txt"
