#!/usr/bin/env bash
# check-tour.sh: after `make tour`: its page has every lesson, and a second tour begins to print a lesson within 3 seconds.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
has_every_lesson() {
  local chapter
  for chapter in $(chapters); do
    grep -q "section id=\"$chapter\"" build/report/index.html || die 1 "the tour's page has no $chapter"
  done
}
has_every_lesson
said=$(mktemp)
trap 'rm -f "$said"' EXIT
started=$SECONDS
make tour >"$said" 2>&1 &
tour=$!
until grep -q -- '^--- 1 of' "$said"; do
  sleep 0.2
  if [ $((SECONDS - started)) -gt 60 ] || ! kill -0 $tour 2>/dev/null; then break; fi
done
began=$((SECONDS - started))
echo "the second tour began after $began s"
wait $tour
[ $began -le 3 ]
has_every_lesson
