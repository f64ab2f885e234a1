#!/usr/bin/env bash
# transcripts.sh: puts what the grader says of tests/NN_topic/homework/attempts/NAME/homework.cu into docs/homework.md, between
# <!-- transcript: NN_topic NAME --> and <!-- /transcript -->. With --check it changes nothing, and fails when there would be
# something to change but the time that a grading took. GRADE=PROGRAM: a grader that is built.
source "$(dirname "$0")/../run/lib.sh"
page=docs/homework.md
[ -n "${GRADE:-}" ] || build sim homework >/dev/null
new=$(mktemp)
trap 'rm -f "$new" "$new.old" "$new.new"' EXIT
while IFS= read -r line; do
  if [[ $line =~ ^'<!-- transcript: '([^ ]+)' '([^ ]+)' -->'$ ]]; then
    chapter=${BASH_REMATCH[1]} attempt=tests/${BASH_REMATCH[1]}/homework/attempts/${BASH_REMATCH[2]}/homework.cu
    status=0
    said=$("${GRADE:-build/sim/bin/grade}" "$chapter" --file "$attempt") || status=$?
    [ $status -le 1 ] || die 1 "$attempt could not be graded"
    # shellcheck disable=SC2016  # a fence, not a command
    printf '%s\n```\n%s\n```\n' "$line" "${said//$attempt/chapters/$chapter/homework.cu}"
    while IFS= read -r line && [ "$line" != '<!-- /transcript -->' ]; do :; done
  fi
  printf '%s\n' "$line"
done <"$page" >"$new"
if [ "${1:-}" = --check ]; then
  for side in old new; do
    if [ $side = old ]; then from=$page; else from=$new; fi
    sed -E 's/\([0-9.]+ s\)$/(... s)/' "$from" >"$new.$side"
  done
  diff "$new.old" "$new.new" || die 1 "$page does not show what the grader says: common/scripts/record/transcripts.sh"
else
  cp "$new" "$page"
fi
