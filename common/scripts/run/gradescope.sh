#!/usr/bin/env bash
# gradescope.sh CHAPTER: makes build/gradescope/CHAPTER.zip, an autograder to upload at Gradescope (Configure Autograder, Zip).
# It has the repository as it is here, changed rubrics included, but for what git ignores. CHAPTER may be a task in one file, too; what
# TILEWISE_TASKS has of it goes along.
source "$(dirname "$0")/lib.sh"
chapter=$1
[ -z "${TILEWISE_TASKS:-}" ] || [ -d "$TILEWISE_TASKS" ] || die 2 "TILEWISE_TASKS is $TILEWISE_TASKS, which is no folder."
task=$(task_folder "$chapter")
[ -e "${task:-tests/$chapter/homework}/solution.cu" ] || die 2 "There is no chapter and no task $chapter with a solution."
stage=build/gradescope/$chapter zip=build/gradescope/$chapter.zip
rm -rf "$stage" "$zip"
mkdir -p "$stage/tilewise"
cp common/grader/gradescope/setup.sh common/grader/gradescope/run_autograder "$stage/"
echo "$chapter" >"$stage/chapter"
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  git ls-files -z --cached --others --exclude-standard
else
  find . -path ./build -prune -o -type f -print0
fi | while IFS= read -r -d '' file; do
  [ -f "$file" ] || continue  # deleted, but not yet in the index
  mkdir -p "$stage/tilewise/$(dirname "$file")"
  cp -p "$file" "$stage/tilewise/$file"
done
if [ -n "${TILEWISE_TASKS:-}" ] && [ -d "$TILEWISE_TASKS/$chapter" ]; then
  mkdir "$stage/tasks"
  cp -R "$TILEWISE_TASKS/$chapter" "$stage/tasks/"
fi
# Gradescope wants both scripts at the top of the archive, not in a folder.
(cd "$stage" && cmake -E tar cf "../$chapter.zip" --format=zip -- *)
echo "The autograder is $zip ($(wc -c <"$zip") bytes). docs/teaching.md says what to do with it."
