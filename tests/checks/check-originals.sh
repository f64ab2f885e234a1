#!/usr/bin/env bash
# check-originals.sh: what students and learners begin with, chapters/*/homework.cu and chapters/*/puzzles, is what the tests know.
set -eu
cd "$(dirname "$0")/../.."
for original in tests/*/homework/starter.cu; do
  chapter=$(basename "$(dirname "$(dirname "$original")")")
  cmp "$original" "chapters/$chapter/homework.cu"
done
for original in tests/*/puzzles/*.cu; do
  chapter=$(basename "$(dirname "$(dirname "$original")")")
  cmp "$original" "chapters/$chapter/puzzles/$(basename "$original")"
done
