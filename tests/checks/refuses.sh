#!/usr/bin/env bash
# refuses.sh COMMAND...: how a program refuses an argument: one line on stderr, exit code 2, nothing on stdout.
set -u
said=$(mktemp -d)
trap 'rm -rf "$said"' EXIT
status=0
"$@" >"$said/out" 2>"$said/err" </dev/null || status=$?
cat "$said/out" "$said/err"
lines=$(wc -l <"$said/err")
[ $status = 2 ] && [ "$lines" = 1 ] && [ ! -s "$said/out" ] && exit
echo "exit code $status, $lines lines on stderr, $(wc -l <"$said/out") on stdout; expected 2, 1 and 0"
exit 1
