#!/usr/bin/env bash
# page-filter.sh PAGE.md: the page as Doxygen gets it. What is right on GitHub is not quite right in the site:
# - the page needs a label: chNN_topic for a chapter's README, chNN_topic_x for x.md beside it, the file's name elsewhere;
# - pages lie in one folder there, so pictures and source files are addressed from the repository's root, and
#   source files get .txt appended so that a browser shows them (docs.sh copies both);
# - code comes from the source itself, by \snippet, with links; GitHub shows the copy that update-results.py made;
# - Doxygen closes <details> at the end of each paragraph, unless it is told to leave the tag alone;
# - Doxygen takes `::name` in code for a link.
# Line numbers stay as they are.
page=${1#"$PWD"/}
folder=$(dirname "$page")
name=$(basename "$page" .md)
case $page in
  ./README.md | README.md) label="" ;;
  chapters/*/README.md) label=ch$(basename "$folder") ;;
  chapters/*) label=ch$(basename "$folder")_$name ;;
  *) label=$(tr '[:upper:]-' '[:lower:]_' <<<"$name") ;;
esac
awk -v folder="$([ "$folder" = . ] || echo "$folder/")" -v label="$label" '
  /^<!-- snippet: [^ ]+ [^ ]+ -->$/ { print "\\snippet " $3 " " $4; in_snippet = 1; next }
  in_snippet { if (/^<!-- \/snippet -->$/) in_snippet = 0; print ""; next }
  /^```/ { fenced = !fenced }
  fenced { print; next }
  /^# / && label != "" && !labelled { labelled = 1; if (!/\{#/) $0 = $0 " {#" label "}" }
  /^<\/?details>$/ || /^<summary>.*<\/summary>$/ { print "\\htmlonly[block]" $0 "\\endhtmlonly"; next }
  {
    gsub(/src="figures\//, "src=\"" folder "figures/")
    gsub(/src="..\/..\/docs\/results\//, "src=\"docs/results/")
    gsub(/::tilewise::/, "tilewise::")
    out = ""
    rest = $0
    while (match(rest, /\]\([^)#: ]+\)/)) {
      target = substr(rest, RSTART + 2, RLENGTH - 3)
      if (target !~ /\.md$/) target = folder target ".txt"
      out = out substr(rest, 1, RSTART - 1) "](" target ")"
      rest = substr(rest, RSTART + RLENGTH)
    }
    print out rest
  }' "$1"
