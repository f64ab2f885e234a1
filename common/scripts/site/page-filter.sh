#!/usr/bin/env bash
# page-filter.sh PAGE.md: the page as Doxygen gets it. What is right on GitHub is not quite right in the site:
# - the page needs a label: chNN_topic for a chapter's README, chNN_topic_x for x.md beside it, the file's name elsewhere;
# - links to pages name that label: links to files are resolved by Doxygen 1.9.4, and not by 1.9.8 if the page has one;
# - a link to an <a id="x"> of a page, glossary.md#x, is one to the file that Doxygen makes of it;
# - pages lie in one folder there, so pictures and source files are addressed from the repository's root, and
#   source files get .txt appended so that a browser shows them (docs.sh copies both);
# - code comes from the source itself, by \snippet or \include, with links; GitHub shows the copy that update-results.py made;
# - Doxygen closes <details> at the end of each paragraph, unless it is told to leave the tag alone;
# - Doxygen does not know the language `cuda`;
# - Doxygen takes `::name` in code for a link;
# - Doxygen does not see the end of **bold** beside a quote, code or a letter, nor code after a quote: bold gets tags, and quotes
#   are written as entities.
# - Doxygen drops a % in front of a Chinese character, and takes a line that begins with "32. " for the first item of a list, also
#   inside a paragraph.
# - an explorer, which GitHub cannot show, stands in a comment: <!-- explorer: banks where=c32&pad=1 -->; site.py puts it on the page.
# - Doxygen runs words together around a comment, and ends a paragraph at one of several lines: comments are left out.
# - a Chinese page, NAME.zh.md, gets the blocks of the English one (chinese.py); its label is the English one's with _zh after it.
# Line numbers stay as they are, but for lines that are all comment, and in Chinese pages.
page=${1#"$PWD"/}
text=$1
case $page in
  *.zh.md)
    text=$(mktemp)
    trap 'rm -f "$text"' EXIT
    python3 common/scripts/site/chinese.py expand "$page" >"$text" || exit 1
    ;;
esac
awk -v page="${page#./}" '
  # chapters/02_topic/x.md: what is after the last slash, and what is before it
  function name(path) { sub(/.*\//, "", path); return path }
  function folder_of(path) { return substr(path, 1, length(path) - length(name(path))) }
  function without_dots(path) {
    sub(/^\.\//, "", path)
    while (sub(/[^\/.]+\/\.\.\//, "", path)) {}
    return path
  }
  function label_of(path) {
    return sub(/\.zh\.md$/, ".md", path) ? english_label_of(path) "_zh" : english_label_of(path)
  }
  function english_label_of(path,   topic, file) {
    topic = name(substr(folder_of(path), 1, length(folder_of(path)) - 1))
    file = substr(name(path), 1, length(name(path)) - 3)
    if (path == "README.md") return "index"
    if (path ~ /^chapters\/.*\/README\.md$/) return "ch" topic
    if (path ~ /^chapters\/.*\//) return "ch" topic "_" file
    gsub(/-/, "_", file)
    return tolower(file)
  }
  # Outside of code, tags and comments, which may go on in the next line: `code` is how many backticks it began with.
  function spelled_out(line,   out, i, c, run) {
    out = ""
    for (i = 1; i <= length(line); i++) {
      c = substr(line, i, 1)
      if (comment) {
        if (substr(line, i, 3) == "-->") { comment = 0; i += 2 }
        continue
      } else if (c == "`") {
        for (run = 1; substr(line, i + run, 1) == "`"; run++) {}
        if (!code) code = run; else if (code == run) code = 0
        out = out substr(line, i, run)
        i += run - 1
        continue
      } else if (code) {
      } else if (substr(line, i, 4) == "<!--") {
        comment = 1
        i += 3
        continue
      } else if (tag) {
        if (c == ">") tag = 0
      } else if (c == "<" && substr(line, i + 1, 1) ~ /[a-zA-Z\/]/) {
        tag = 1
      } else if (c == "\"") {
        c = "&quot;"
      } else if (substr(line, i, 2) == "**") {
        c = bold ? "</b>" : "<b>"
        bold = !bold
        i++
      } else if (c !~ /[ -~]/ && out ~ /(^|[^\\])%$/) {
        sub(/%$/, "\\%", out)
      }
      out = out c
    }
    return out
  }
  BEGIN { folder = folder_of(page); label = page == "README.md" ? "" : label_of(page) }
  /^<!-- snippet: [^ ]+ [^ ]+ -->$/ { print "\\snippet " $3 " " $4; in_snippet = 1; next }
  /^<!-- snippet: [^ ]+ -->$/ { print "\\include " $3; in_snippet = 1; next }
  /^<!-- explorer: [a-z]+( [^ ]+)? -->$/ {
    print "\\htmlonly[block]<div class=\"explorer\" data-explorer=\"" $3 "\" data-state=\"" ($4 == "-->" ? "" : $4) "\"></div>\\endhtmlonly"
    next
  }
  in_snippet { if (/^<!-- \/snippet -->$/) in_snippet = 0; print ""; next }
  /^```/ { fenced = !fenced; sub(/^```cuda$/, "```{.cpp}") }
  fenced { print; next }
  /^# / && label != "" && !labelled { labelled = 1; if (!/\{#/) $0 = $0 " {#" label "}" }
  /^<\/?details>$/ || /^<summary>.*<\/summary>$/ { print "\\htmlonly[block]" $0 "\\endhtmlonly"; next }
  /^ *$/ || /^#/ { bold = code = tag = 0 }
  {
    gsub(/src="figures\//, "src=\"" folder "figures/")
    gsub(/src="(\.\.\/)+docs\/results\//, "src=\"docs/results/")
    gsub(/::tilewise::/, "tilewise::")
    out = ""
    rest = $0
    while (match(rest, /\]\([^): ]+\)/)) {
      target = substr(rest, RSTART + 2, RLENGTH - 3)
      hash = index(target, "#")
      if (hash > 0) {
        anchor = substr(target, hash)
        target = (hash == 1 ? label_of(page) : label_of(without_dots(folder substr(target, 1, hash - 1)))) ".html" anchor
      } else {
        target = target ~ /\.md$/ ? "@ref " label_of(without_dots(folder target)) : folder target ".txt"
      }
      out = out substr(rest, 1, RSTART - 1) "](" target ")"
      rest = substr(rest, RSTART + RLENGTH)
    }
    line = out rest
    # Four spaces are code, unless they go on with a paragraph or a list.
    indented = line ~ /^    / && (indented || last ~ /^ *$/ && !in_list)
    was_in_list = in_list
    in_list = line ~ /^ *([-*]|[0-9]+\.) / || in_list && line !~ /^[^ ]/
    last = line
    text = indented ? line : spelled_out(line)
    if (!was_in_list && text ~ /^[0-9][0-9]+\. /) { sub(/\./, "\\.", text); in_list = 0 }
    if (text ~ /[^ ]/ || line !~ /[^ ]/) print text  # a line that is all comment would end a paragraph
  }' "$text"
