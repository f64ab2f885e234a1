#!/usr/bin/env bash
# docs.sh: builds the lesson site with Doxygen. A warning is an error, and so is a link that leads nowhere.
source "$(dirname "$0")/lib.sh"
common/scripts/setup.sh docs
out=build/docs
rm -rf "$out"
mkdir -p "$out"

# Debian packages the theme; without it the site has Doxygen's own look.
theme=/usr/share/doxygen-awesome-css
if [ ! -d $theme ]; then
  theme=""
  echo "doxygen-awesome-css is not in /usr/share: the site gets Doxygen's own look."
fi
sed -e "s|@OUT@|$out|g" docs/Doxyfile.in >"$out/Doxyfile"
if [ -n "$theme" ]; then
  sed -e "s|@OUT@|$out|g" -e "s|@THEME@|$theme|g" docs/theme/Doxyfile.theme.in >>"$out/Doxyfile"
  # Doxygen's own header, and the theme's two scripts started from it.
  doxygen -w html "$out/header.html" "$out/footer.html" "$out/unused.css" "$out/Doxyfile" >/dev/null 2>&1
  awk '/<\/head>/ { while ((getline line < "docs/theme/head.html") > 0) print line } { print }' \
    "$out/header.html" >"$out/header.new"
  mv "$out/header.new" "$out/header.html"
fi

echo "Building the site"
if ! doxygen "$out/Doxyfile" >"$out/doxygen.log" 2>&1; then
  grep -E 'warning|error' "$out/doxygen.log" | head -n 40 >&2 || tail -n 20 "$out/doxygen.log" >&2
  die 1 "Doxygen failed; the whole log is $out/doxygen.log"
fi

# What pages show or link to beside pages: figures, and source files as plain text.
for figures in chapters/*/figures; do
  [ -d "$figures" ] || continue
  mkdir -p "$out/html/$figures"
  cp "$figures"/* "$out/html/$figures/"
done
mkdir -p "$out/html/docs/results"
cp docs/learn.svg "$out/html/docs/"
find docs/results -name '*.svg' -exec cp {} "$out/html/docs/results/" \;
grep -rhoE --include='*.html' 'href="[^":]+\.txt"' "$out/html" | sed 's/^href="//; s/\.txt"$//' | sort -u |
  while IFS= read -r file; do
    [ -f "$file" ] || continue  # the link check reports it
    mkdir -p "$out/html/$(dirname "$file")"
    cp "$file" "$out/html/$file.txt"
  done

if command -v python3 >/dev/null && ! python3 common/scripts/update-results.py --code --check 2>/dev/null; then
  echo "Some pages show code that has changed since (on GitHub; the site is right): common/scripts/update-results.py --code"
fi
build_tool check_links
build/tools/check_links README.md CONTRIBUTING.md docs/*.md chapters "$out/html"
echo "The site is $out/html/index.html"
