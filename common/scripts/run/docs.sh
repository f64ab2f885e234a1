#!/usr/bin/env bash
# docs.sh: builds the lesson site with Doxygen. A warning is an error, and so is a link that leads nowhere.
source "$(dirname "$0")/lib.sh"
common/scripts/run/setup.sh docs
out=build/docs
rm -rf "$out"
mkdir -p "$out"

# Debian packages the theme; without it code and reference have Doxygen's own look.
if [ ! -d /usr/share/doxygen-awesome-css ]; then
  echo "doxygen-awesome-css is not in /usr/share: code and reference get Doxygen's own look."
fi
sed -e "s|@OUT@|$out|g" docs/Doxyfile.in >"$out/Doxyfile"

echo "Building the site"
if ! doxygen "$out/Doxyfile" >"$out/doxygen.log" 2>&1; then
  grep -E 'warning|error' "$out/doxygen.log" | head -n 40 >&2 || tail -n 20 "$out/doxygen.log" >&2
  die 1 "Doxygen failed; the whole log is $out/doxygen.log"
fi

# What pages show or link to beside pages: figures, and source files as plain text.
for figures in chapters/*/figures; do
  [ -n "$(ls "$figures" 2>/dev/null)" ] || continue  # a new lesson may have none yet
  mkdir -p "$out/html/$figures"
  cp "$figures"/* "$out/html/$figures/"
done
mkdir -p "$out/html/docs/results"
cp docs/learn.svg "$out/html/docs/"
find docs/results -name '*.svg' -exec cp {} "$out/html/docs/results/" \;
common/scripts/site/site.py "$out/html"
grep -rhoE --include='*.html' 'href="[^":]+\.txt"' "$out/html" | sed 's/^href="//; s/\.txt"$//' | sort -u |
  while IFS= read -r file; do
    [ -f "$file" ] || continue  # the link check reports it
    mkdir -p "$out/html/$(dirname "$file")"
    cp "$file" "$out/html/$file.txt"
  done

if command -v python3 >/dev/null && ! python3 common/scripts/record/update-results.py --code --check 2>/dev/null; then
  echo "Some pages show code (on GitHub; the site is right) or pictures that have changed since: common/scripts/record/update-results.py --code"
fi
if command -v python3 >/dev/null; then tests/checks/check-chinese.py || die 1 "The Chinese edition has errors; docs/chinese.md has its rules."; fi
build_tool check_links
build/tools/check_links README.md CONTRIBUTING.md docs/*.md chapters "$out/html"
size=$(du -sk "$out/html" | cut -f1)
[ "$size" -le 30000 ] || die 1 "The site has $((size / 1000)) MB, and may have 30."
echo "The site is $out/html/index.html; a browser opens it as file://$PWD/$out/html/index.html"
