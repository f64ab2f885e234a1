# Cross-compiles for arm64 Linux with Debian's g++-aarch64-linux-gnu. What is built for arm64 and runs in the build, simcc, qemu runs.
# build/arm64/root has the libraries for arm64, unpacked from their packages: tests/checks/check-arm64.sh makes it.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
cmake_path(SET TILEWISE_ARM64_ROOT NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../build/arm64/root")
set(CMAKE_FIND_ROOT_PATH "${TILEWISE_ARM64_ROOT}" /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
