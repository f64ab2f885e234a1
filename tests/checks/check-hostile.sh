#!/usr/bin/env bash
# check-hostile.sh [CHAPTER...]: no submission of tests/*/homework/hostile gains anything, with and without the look at the source,
# as root and as another user who owns the checkout. Prints a row for each, with the points of its best task, and ends with 1 when
# one gets more than its first lines allow. Who isn't root sees two of the four columns. Takes several minutes.
# OTHER_USER (default nobody) is the other user. He gets a copy of the checkout, put in its place for his processes alone.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
build sim homework
# shellcheck disable=SC2046  # chapters are words
[ $# -gt 0 ] || set -- $(build/sim/bin/grade --list)
user=${OTHER_USER:-nobody}
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"

# What is printed of one chapter, by whoever runs it.
# shellcheck disable=SC2317  # called by its name in a variable
grade_as_it_is() { build/sim/bin/grade "$1" --check-bank --only hostile; }
# shellcheck disable=SC2016,SC2317  # expanded by the inner shell
grade_as_other() {
  unshare --mount bash -c '
    mount --make-rprivate / && mount --bind "$1" "$2" && cd "$2" &&
      exec setpriv --reuid "$3" --regid "$(id -g "$3")" --clear-groups env HOME=/tmp build/sim/bin/grade "$4" --check-bank --only hostile
  ' - "$folder/checkout" "$root" "$user" "$1"
}

columns=("$(id -un)")
if [ "$(id -u)" = 0 ]; then
  mkdir "$folder/checkout"
  # Without what is generated for other purposes.
  tar -c --exclude=./.git --exclude='./build/*/test*' --exclude='*/CMakeFiles' . | tar -x -C "$folder/checkout"
  chown -R "$user" "$folder/checkout"
  columns+=("$user")
else
  echo "Not run as another user: only root can."
fi
failed=0
for chapter in "$@"; do
  for who in "${columns[@]}"; do
    run=grade_as_it_is
    [ "$who" = "$user" ] && [ ${#columns[@]} -gt 1 ] && run=grade_as_other
    $run "$chapter" >"$folder/log" 2>&1 || { failed=1 && grep -A 8 -v "^ok" "$folder/log" >&2; }
    sed -nE "s/^(ok  |FAIL)  hostile +([^ ]+)\.cu( \(unchecked\))? +[0-9.]+ s(.*)/\1|\2|\3|\4/p" "$folder/log" |
      sed "s#^#$chapter|$who|#" >>"$folder/rows"
    grep -q "^FAIL\|^ok" "$folder/log" || { failed=1 && cat "$folder/log" >&2; }
  done
done
awk -F'|' -v who="${columns[*]}" '
  { n = split($6, words, " "); most = 0
    for (i = 2; i <= n; i += 2) if (words[i] + 0 > most) most = words[i] + 0
    key = substr($1, 1, 2) " " $4
    if (!(key in seen)) order[++count] = key
    seen[key] = 1
    cell[key, $2, $5 != ""] = sprintf("%g%s", most, $3 == "FAIL" ? " FAIL" : "")
    if ($3 == "FAIL") bad++; runs++ }
  END {
    m = split(who, users, " ")
    printf "%-40s", "points of the best task, of 100"
    for (u = 1; u <= m; u++) printf " %16s %16s", users[u], "source unseen"
    print ""
    for (k = 1; k <= count; k++) {
      printf "%-40s", order[k]
      for (u = 1; u <= m; u++) printf " %16s %16s", cell[order[k], users[u], 0], cell[order[k], users[u], 1]
      print ""
    }
    printf "%d hostile submissions, graded %d times, %d of these not as expected\n", count, runs, bad
  }' "$folder/rows"
exit $failed
