#!/usr/bin/env bash
# check-flaws.sh numbers|lessons|chinese|site|report: the checks of pages see every flaw that they look for, in pages made for it.
# site and report: exit code 77 where there is no browser.
set -u -o pipefail
cd "$(dirname "$0")/../.." || exit 1
work=build/check-flaws/${1:-}
rm -rf "$work"
mkdir -p "$work"
exits() { tests/checks/exits.sh "$@"; }

numbers() {  # typed numbers; but not what is computed, quoted, or a worked formula
  printf '%s\n' 'The tile is 3.4x faster, takes 12 % less time and three times the bytes.' \
    'It reads 32 lanes x 4 bytes = 256 bytes at 900 GB/s.' >"$work/typed.md"
  exits 1 'does not compute' tests/checks/check-numbers.py "$work/typed.md" || return 1
  for number in '3.4x' '12 %' 'three times' '256 bytes' '900 GB/s'; do
    exits 1 ": $number: " tests/checks/check-numbers.py "$work/typed.md" || return 1
  done
  printf '%s\n' 'It reads 32 [lanes](glossary.md#lane) x 4 bytes = 128 bytes, <!-- calc 8 / 2 : {:.1f}x -->4.0x<!-- /calc --> as many.' \
    '- **Claim:** "It is 3.4x faster."' >"$work/computed.md"
  tests/checks/check-numbers.py "$work/computed.md"
}

lessons() {  # one that is over in each respect, and its links; but not what is folded
  local page=$work/lesson.md i
  {
    echo "# Tiles"
    for i in $(seq 251); do printf 'Six words here, and no more.\n'; done
    for i in 1 2 3; do printf '\n| a |\n|---|\n| 1 |\n'; done
    echo '```'
    for i in $(seq 61); do echo "x = $i;"; done
    echo '```'
    # shellcheck disable=SC2016  # code, not a command
    printf '\nHere nobody waits. Two *bank\nconflicts*, in tiles of `lanes`.\n'
  } >"$page"
  local said
  for said in '1,5[0-9]+ words, [0-9]+ more' '3 tables, 1 more' '61 code lines, 1 more' "lesson.md:32[0-9]: 'nobody'" \
    "'bank conflicts' .* glossary.md#bank-conflict" "'tiles' .*#tile"; do
    exits 1 "$said" tests/checks/check-lessons.py "$page" || return 1
  done
  ! exits 1 '#lane|#bank$' tests/checks/check-lessons.py "$page" || { echo "code, or a word in a term, is taken for a term"; return 1; }
  exits 1 '^4 in all' tests/checks/check-lessons.py --link "$page" && grep -q 'glossary.md#bank-conflict' "$page" || return 1
  { printf '# Tiles\n\n<details>\n<summary>tiles</summary>\n\n'; sed -e 1d -e s/nobody/nothing/ "$page"; echo '</details>'; } >"$work/folded.md"
  tests/checks/check-lessons.py "$work/folded.md"
}

chinese() {  # errors, warnings, and a hash that a new recording leaves alone
  local folder=$work/chinese check=tests/checks/check-chinese.py
  local page=$folder/page.zh.md english=$folder/page.md
  rm -rf "$folder"
  mkdir -p "$folder"
  printf '%s\n' '# A' '' 'It takes <!-- calc 2 + 2 : {:.1f} times -->4.0 times<!-- /calc --> as long.' '' '## B' '' '<!-- results:sim x -->' '' \
    '| 1 |' '' '<!-- /results -->' '' 'Text.' '' '    make' >"$english"
  common/scripts/site/chinese.py begin "$english" && exits 0 '0 errors, 0 warnings' $check "$page" || return 1
  common/scripts/site/chinese.py expand "$page" | grep -q '^| 1 |$' || { echo "the table of the English page is not there"; return 1; }
  sed -i.old -e 's/| 1 |/| 2 |/' -e 's/>4.0 times</>5.0 times</' "$english"
  exits 0 '0 errors, 0 warnings' $check "$page" || return 1
  common/scripts/site/chinese.py expand "$page" | grep -q '^| 2 |$' || { echo "the new table is not there"; return 1; }
  sed -i.old 's/Text/Other text/' "$english"
  exits 0 'warning: the English text has changed' $check "$page" || return 1
  $check --stamp "$page" && exits 0 '0 errors, 0 warnings' $check "$page" || return 1
  sed 's/same: code/same: code #2/' "$page" >"$folder/a.zh.md"
  sed 's/^## B$//' "$page" >"$folder/b.zh.md"
  sed '/same: results/d' "$page" >"$folder/c.zh.md"
  sed 's/calc 2 + 2/calc 2 + 3/' "$page" >"$folder/d.zh.md"
  for page in a b c d; do cp "$english" "$folder/$page.md"; done
  exits 1 'error: .code #2. names no block' $check "$folder/a.zh.md" && exits 1 'error: 1 headings, and 2 in English.*"B"' $check "$folder/b.zh.md" &&
    exits 0 'warning: leaves out a block: <!-- same: results:sim -->' $check "$folder/c.zh.md" &&
    exits 0 "warning: a formula that the English page doesn't have" $check "$folder/d.zh.md" &&
    exits 2 'no page of the Chinese edition' $check "$english"
}

site() {  # a page with every flaw that check-site.py looks for
  local site=$work/flawed-site
  rm -rf "$site"
  mkdir -p "$site"
  cp build/docs/html/*.css build/docs/html/*.js build/docs/html/favicon.svg "$site/"
  sed -e 's/<html lang="en">/<html>/' -e 's|<div class="contents">|&<h1>Again</h1><p>**raw**</p><div style="width: 2000px">wide</div>\
<div style="overflow-x: auto; width: 200px"><div style="width: 900px">cannot be reached</div></div><p style="color: #bbb">pale</p>\
<script>undefined_function()</script>|' build/docs/html/index.html >"$site/index.html"
  local said found=$work/flaws.txt
  exits 1 'findings' tests/checks/check-site.py --site "$site" index >"$found" || return 1
  [ ! -e build/tools/axe/axe.min.js ] || exits 1 'color-contrast' tests/checks/check-site.py --site "$site" --axe index || return 1
  for said in 'no lang' '2 h1' 'raw Markdown: \*\*raw' 'pixels wide in a window of 1280' 'at 360 pixels: [0-9]+ pixels wide' \
    'cannot be scrolled by keyboard' 'beyond the paper' 'console: .*undefined_function'; do
    grep -qE "$said" "$found" || { cat "$found"; echo "is not seen: $said"; return 1; }
  done
}

report() {  # equal bars, a reason in one cell, no verdict, and what is too wide
  local flawed=$work/flawed-report.html said
  sed -e 's/--share:[0-9.]*/--share:1/g' -e 's/ colspan="[0-9]*"//' -e 's|<p class="normal [a-z]*">.*</p>||' -e 's|<main>|&<div style="width: 2000px">wide</div>|' \
    build/report/index.html >"$flawed"
  exits 1 'findings' tests/checks/check-report.py "$flawed" >"$work/report-flaws.txt" || return 1
  for said in 'a chart of bars of one length' 'does not tell the tiles apart' 'a reason that ends within its row' \
    'say whether they are normal' 'pixels wide in a window of 1280' 'beyond the window'; do
    grep -qE "$said" "$work/report-flaws.txt" || { cat "$work/report-flaws.txt"; echo "is not seen: $said"; return 1; }
  done
}

with_browser() {  # with_browser WHAT CHECK...: 77 where the check has no browser
  local what=$1 status=0
  shift
  "$@" >"$work/unflawed.txt" 2>&1 || status=$?
  [ $status != 77 ] || { tail -n 1 "$work/unflawed.txt"; exit 77; }
  "$what"
}

case ${1:-} in
  numbers | lessons | chinese) "$1" ;;
  site) with_browser site tests/checks/check-site.py index ;;
  report) with_browser report tests/checks/check-report.py ;;
  *) echo "check-flaws.sh numbers, lessons, chinese, site or report" >&2; exit 2 ;;
esac
