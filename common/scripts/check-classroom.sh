#!/usr/bin/env bash
# check-classroom.sh [CHAPTER]: tries what docs/teaching.md gives to instructors, as far as that goes without the services.
# Gradescope: makes the autograder's zip, lays out a folder like /autograder, runs run_autograder on submissions of all
# kinds, and holds results.json against the specification. What the zip would build is not built again: tilewise/ is this
# repository. GitHub: runs the commands of homework.yml in a folder like a runner's.
source "$(dirname "$0")/lib.sh"
chapter=${1:-02_tiled_matmul}
bank=tests/$chapter/homework
build sim homework
common/scripts/gradescope.sh "$chapter"
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
export AUTOGRADER=$root/autograder
failures=0
wrong() {
  failures=$((failures + 1))
  echo "FAIL  $1"
}

mkdir -p "$AUTOGRADER/source" "$AUTOGRADER/submission" "$AUTOGRADER/results"
zip=$PWD/build/gradescope/$chapter.zip
(cd "$AUTOGRADER/source" && cmake -E tar xf "$zip")
for script in setup.sh run_autograder; do
  [ -x "$AUTOGRADER/source/$script" ] || wrong "$script is not an executable at the top of the archive"
done
# All that git knows is in the zip, and nothing else.
if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
  (cd "$AUTOGRADER/source/tilewise" && find . -type f | sed 's|^\./||' | LC_ALL=C sort) >"$root/zipped"
  git ls-files --cached --others --exclude-standard | while IFS= read -r f; do if [ -f "$f" ]; then echo "$f"; fi; done |
    LC_ALL=C sort >"$root/known"
  cmp "$root/known" "$root/zipped" || wrong "the zip lacks files, or has others"
fi
cp "$AUTOGRADER/source/run_autograder" "$AUTOGRADER/"  # as Gradescope does
rm -rf "$AUTOGRADER/source/tilewise"
ln -s "$PWD" "$AUTOGRADER/source/tilewise"

# graded NAME "SCORE of MAX, N tests" [PHRASE]: what lies in submission/ gets this verdict, and results.json says PHRASE.
graded() {
  local name=$1 expected=$2 phrase=${3:-} got
  rm -f "$AUTOGRADER/results/results.json"
  (cd "$AUTOGRADER" && ./run_autograder) >"$root/stdout" 2>&1 || wrong "$name: run_autograder ended with $?"
  got=$(common/scripts/check-gradescope.py "$AUTOGRADER/results/results.json" 2>&1) || true
  if [[ ! $got =~ ^$expected$ ]]; then
    wrong "$name: $got, expected $expected"
    cat "$root/stdout"
  elif ! grep -qF -- "$phrase" "$AUTOGRADER/results/results.json"; then
    wrong "$name: results.json does not say: $phrase"
  else
    echo "ok    $name: $got"
  fi
  rm -rf "$AUTOGRADER/submission"
  mkdir "$AUTOGRADER/submission"
}

cp "$bank/solution.cu" "$AUTOGRADER/submission/homework.cu"
graded "the solution" '100 of 100, [0-9]+ tests'
cp "$bank/solution.cu" "$AUTOGRADER/submission/my homework (2).cu"
printf 'junk' >"$AUTOGRADER/submission/._my homework (2).cu"
graded "the solution under another name" '100 of 100, [0-9]+ tests'
cp "$bank/starter.cu" "$AUTOGRADER/submission/homework.cu"
graded "the starter" '[0-9]{1,2}(\.[0-9]+)? of 100, [0-9]+ tests' 'no kernel was launched'
printf '// \377\376 caf\351\nint broken(\n' >"$AUTOGRADER/submission/homework.cu"
graded "what does not compile, and is no UTF-8" '0 of 100, [0-9]+ tests' 'error'
printf '#include <cstdlib>\nchar* f() { return std::getenv("A"); }\n' >"$AUTOGRADER/submission/homework.cu"
graded "what is refused" '0 of 100, [0-9]+ tests' 'it calls getenv'
ln -s "$PWD/$bank/solution.cu" "$AUTOGRADER/submission/homework.cu"
graded "a link to the solution" '0 of 0, 0 tests' 'is a link'
ln -s "$PWD/$bank/solution.cu" "$AUTOGRADER/submission/mine.cu"
graded "a link with another name" '0 of 0, 0 tests' 'no file homework.cu'
cp "$bank/solution.cu" "$AUTOGRADER/submission/a.cu"
cp "$bank/solution.cu" "$AUTOGRADER/submission/b.cu"
graded "two files" '0 of 0, 0 tests' 'Hand in one'
printf 'hello' >"$AUTOGRADER/submission/README"
graded "no file" '0 of 0, 0 tests' 'no file homework.cu'
cp "$bank/solution.cu" "$AUTOGRADER/submission/homework.cu"
rm "$AUTOGRADER/source/tilewise"
mkdir "$AUTOGRADER/source/tilewise"
graded "a grader that is not there" '0 of 0, 0 tests' 'tell your instructor'

# ---------------------------------------------------------------- GitHub
workflow=common/grader/github/homework.yml
workspace=$root/workspace
mkdir -p "$workspace/submission"
ln -s "$PWD" "$workspace/tilewise"
export GITHUB_STEP_SUMMARY=$root/summary CHAPTER=${chapter%%_*}
python3 - "$workflow" "$root" <<'PYTHON' || wrong "$workflow is not a workflow"
import sys

# The commands of each step, one file each. Read with a YAML parser where there is one, else by indentation.
source = open(sys.argv[1], encoding="utf-8").read()
try:
    import yaml
except ImportError:
    commands, inside = [], None
    for line in source.splitlines():
        indent = len(line) - len(line.lstrip())
        if line.strip() == "run: |":
            inside, _ = indent, commands.append("")
        elif inside is not None and line.strip() and indent <= inside:
            inside = None
        elif inside is not None:
            commands[-1] += line[inside + 2 :] + "\n"
else:
    workflow = yaml.safe_load(source)
    (job,) = workflow["jobs"].values()
    for step in job["steps"]:
        assert ("uses" in step) != ("run" in step), step
    commands = [step["run"] for step in job["steps"] if "run" in step]
assert len(commands) == 2, commands
for name, text in zip(("build", "grade"), commands):
    with open(f"{sys.argv[2]}/{name}.sh", "w", encoding="utf-8") as stream:
        stream.write(text)
PYTHON
# pushed NAME CODE PHRASE: the step Grade ends with that code, and the summary says PHRASE. bash as GitHub calls it.
pushed() {
  local name=$1 code=$2 phrase=$3 status=0
  : >"$GITHUB_STEP_SUMMARY"
  (cd "$workspace" && bash --noprofile --norc -eo pipefail "$root/grade.sh") >"$root/stdout" 2>&1 || status=$?
  if [ $status != "$code" ]; then
    wrong "GitHub, $name: exit code $status, expected $code"
    cat "$root/stdout"
  elif ! grep -qF -- "$phrase" "$GITHUB_STEP_SUMMARY"; then
    wrong "GitHub, $name: the summary does not say: $phrase"
  else
    echo "ok    GitHub, $name: $status"
  fi
  rm -rf "$workspace/submission/homework.cu"
}
(cd "$workspace" && bash --noprofile --norc -eo pipefail "$root/build.sh") >"$root/stdout" 2>&1 || wrong "GitHub: the build"
cp "$bank/solution.cu" "$workspace/submission/homework.cu"
pushed "the solution" 0 '100 of 100'
cp "$bank/starter.cu" "$workspace/submission/homework.cu"
pushed "the starter" 1 'no kernel was launched'
pushed "no file" 1 'no file homework.cu'
ln -s "$PWD/$bank/solution.cu" "$workspace/submission/homework.cu"
pushed "a link to the solution" 1 'no file homework.cu'

echo "$failures failures"
[ $failures = 0 ]
