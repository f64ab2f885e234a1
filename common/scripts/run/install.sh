#!/usr/bin/env bash
# install.sh: simcc and grade, with all that they need but the C++ compiler, into PREFIX/bin, lib/tilewise, include and share.
source "$(dirname "$0")/lib.sh"
build sim simulator homework
cmake --install build/sim --prefix "${PREFIX:=/usr/local}" >build/sim/install.log || die 1 "Not installed; the log is build/sim/install.log"
echo "Installed: $PREFIX/bin/simcc, $PREFIX/bin/grade"
