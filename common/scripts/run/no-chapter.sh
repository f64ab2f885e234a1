#!/usr/bin/env bash
# no-chapter.sh NUMBER WORD: says that there is no such chapter, which there are, and what WORD, as typed ("homework-1"), may be.
source "$(dirname "$0")/lib.sh"
two=$(printf '%02d' "$((10#$1 % 100))")
if [ "${#1}" != 2 ] && [ -n "$(chapters | grep "^${two}_" || true)" ]; then
  echo "There is no chapter $1; chapters have two digits. Is it make ${2%"$1"}$two? The chapters are:" >&2
else
  echo "There is no chapter $1. The chapters are:" >&2
fi
chapters | sed 's/^/  make /' >&2
exit 2
