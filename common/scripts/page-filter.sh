#!/usr/bin/env bash
# page-filter.sh PAGE.md: the page as Doxygen gets it. What is right on GitHub is not quite right in the site:
# - pages lie in one folder there, so pictures and source files are addressed from the repository's root, and
#   source files get .txt appended so that a browser shows them (docs.sh copies both);
# - Doxygen takes `::name` in code for a link.
# Line numbers stay as they are.
page=${1#"$PWD"/}
folder=$(dirname "$page")
awk -v folder="$([ "$folder" = . ] || echo "$folder/")" '
  /^```/ { fenced = !fenced }
  fenced { print; next }
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
