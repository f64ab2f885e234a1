#!/usr/bin/env bash
# exits.sh CODE TEXT COMMAND...: the command ends with that code and says TEXT (an extended regular expression).
set -u
code=$1 text=$2 status=0
shift 2
output=$("$@" 2>&1 </dev/null) || status=$?
printf '%s\n' "$output"
if [ "$status" != "$code" ]; then
  echo "exit code $status, expected $code"
  exit 1
fi
grep -qE -- "$text" <<<"$output" || { echo "does not say: $text"; exit 1; }
