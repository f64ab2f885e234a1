#!/usr/bin/env bash
# no-chapter.sh NUMBER: says that there is no such chapter, and which there are.
source "$(dirname "$0")/lib.sh"
echo "There is no chapter $1. The chapters are:" >&2
chapters | sed 's/^/  make /' >&2
exit 2
