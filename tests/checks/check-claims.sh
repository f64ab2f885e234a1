#!/usr/bin/env bash
# check-claims.sh: runs every command of docs/claims.md and looks whether it shows what the page says. In the page,
# below each block of commands:
#   <!-- shows: REGEX -->   the output of the block must have a line like this (extended regular expression)
#   <!-- lacks: REGEX -->   and must have none like this
#   <!-- exits: 2 0 -->     exit codes of the commands, in order; 0 for all when absent. make itself ends with 2
# Every claim must have a verdict, a command, something to show, and its row in the index: | [N](#claim-N) | claim | verdict | ...
# MACHINE=sim unless said otherwise.
# check-claims.sh PAGE.md...: other pages.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
export MACHINE=${MACHINE:-sim}
unset ARGS FILE TILEWISE_REPORT TILEWISE_FINDINGS TILEWISE_DEVICE TILEWISE_COUNT
[ $# -gt 0 ] || set -- docs/claims.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0 claims=0 commands=0
wrong() {
  failures=$((failures + 1))
  echo "$1"
}

# One line per item: KIND, a tab, and the text.
awk '
  function claim() { return title != "" }
  /^### / { title = $0; print "claim\t" substr($0, 5); fenced = 0; next }
  /^## / { title = ""; next }
  /^```/ { fenced = !fenced; if (fenced && claim()) print "block\t"; next }
  !claim() { next }
  fenced { print "command\t" $0; next }
  /^\*\*(True|False|It depends)[.,]?\*\*/ { print "verdict\t" $0; next }
  match($0, /^<!-- (shows|lacks|exits): .* -->$/) {
    kind = substr($0, 6, 5)
    print kind "\t" substr($0, 13, length($0) - 16)
  }' "$@" >"$work/items"
printf 'claim\t\n' >>"$work/items"  # ends the last one

title="" verdict=0 said="" shown=0 block=()
patterns=() forbidden=() codes=()
judge_block() {  # runs the block that has been read, and compares
  [ ${#block[@]} -gt 0 ] || return 0
  local i code output
  : >"$work/output"
  for i in "${!block[@]}"; do
    commands=$((commands + 1))
    code=0
    output=$(timeout 60 bash -c "${block[$i]}" </dev/null 2>&1) || code=$?
    printf '%s\n' "$output" >>"$work/output"
    if [ "$code" != "${codes[$i]:-0}" ]; then
      wrong "$title: \`${block[$i]}\` ended with $code, not ${codes[$i]:-0}:"
      tail -n 5 <<<"$output"
    fi
  done
  for i in ${patterns[@]+"${patterns[@]}"}; do
    grep -qE -- "$i" "$work/output" || { wrong "$title: the output shows no line like: $i"; cat "$work/output"; }
  done
  for i in ${forbidden[@]+"${forbidden[@]}"}; do
    if grep -qE -- "$i" "$work/output"; then wrong "$title: the output has a line like: $i"; fi
  done
  block=() patterns=() forbidden=() codes=()
}

while IFS=$'\t' read -r kind rest; do
  case $kind in
    claim | block) judge_block ;;
  esac
  case $kind in
    claim)
      if [ -n "$title" ]; then
        claims=$((claims + 1))
        grep -qF "| [${title%%.*}](#claim-${title%%.*}) | ${title#*. } | $said |" "$@" || wrong "$title: not so in the index: $said"
        [ $verdict = 1 ] || wrong "$title: no verdict (**True**, **False**, **It depends**), or more than one"
        [ $shown -gt 0 ] || wrong "$title: nothing is shown"
      fi
      title=$rest verdict=0 shown=0
      ;;
    command) block+=("$rest") ;;
    verdict) verdict=$((verdict + 1)) said=${rest#\*\*} said=${said%%\*\**} said=${said%[.,]} ;;
    shows) patterns+=("$rest") shown=$((shown + 1)) ;;
    lacks) forbidden+=("$rest") ;;
    exits) IFS=' ' read -r -a codes <<<"$rest" ;;
  esac
done <"$work/items"

[ $claims -ge 20 ] || wrong "only $claims claims"
echo "$claims claims, $commands commands, $failures failures"
[ $failures = 0 ]
