#!/usr/bin/env bash
# no-target.sh WORD: what make says to a word that it has no rule for: which there are of that kind, or what is close to it.
source "$(dirname "$0")/lib.sh"
word=$1
with() {  # with FILE: the numbers of the chapters that have it, in one line
  for file in chapters/*/"$1"; do basename "$(dirname "$file")" | cut -d _ -f 1; done | paste -s -d ' ' -
}
closest() {  # closest WORD: of the words on standard input the one that is at most two letters away from it
  awk -v wanted="$1" '
    function apart(a, b,   i, j, row, before, kept) {
      for (j = 0; j <= length(b); ++j) row[j] = j
      for (i = 1; i <= length(a); ++i) {
        before = row[0]; row[0] = i
        for (j = 1; j <= length(b); ++j) {
          kept = row[j]
          before += substr(a, i, 1) != substr(b, j, 1)
          if (kept + 1 < before) before = kept + 1
          if (row[j - 1] + 1 < before) before = row[j - 1] + 1
          row[j] = before; before = kept
        }
      }
      return row[length(b)]
    }
    BEGIN { least = length(wanted) < 4 ? 2 : 3 }
    { n = apart(wanted, $0); if (n < least) { least = n; best = $0 } }
    END { print best }'
}
case $word in
  *[!0-9]*) ;;
  *) exec "$(dirname "$0")/no-chapter.sh" "$word" "$word" ;;
esac
case $word in
  puzzle-) die 2 "make puzzle-: which one? make puzzle-03-2 judges that one; make puzzles lists all." ;;
  homework- | reset-homework- | solution- | check- | gradescope-)
    die 2 "make $word: of which lesson? Those with homework are $(with homework.cuh), as in make ${word}02. Tasks in one file go by their names, as in make ${word}tone."
    ;;
  test- | plain-) die 2 "make $word: of which lesson? As in make ${word}02; make alone lists all." ;;
  step-*) die 2 "make $word: lessons with small programs are $(with steps), as in make step-00." ;;
  tune-*) die 2 "make $word: lessons with a tuner are $(with tune.cu), as in make tune-12." ;;
esac
known=$(
  sed -nE 's/^\.PHONY: (help .*)/\1/p' Makefile | tr ' ' '\n'
  for chapter in $(chapters); do
    for front in "" plain- test- homework- reset-homework- solution- check-; do echo "$front${chapter%%_*}"; done
    echo "$chapter"
  done
)
like=$(closest "$word" <<<"$known")
die 2 "make has no '$word'.${like:+ Is it make $like?} make alone lists what there is."
