#!/usr/bin/env bash
# check-classroom.sh [CHAPTER]: tries what docs/teaching.md gives to instructors, as far as that goes without the services.
# Gradescope: makes the autograder's zip, lays out a folder like /autograder, runs run_autograder on submissions of all
# kinds, and holds results.json against the specification. What the zip would build is not built again: tilewise/ is this
# repository. GitHub: runs the commands of homework.yml in a folder like a runner's. Slurm: runs class.sh with a program called
# sbatch that does what class.sh needs of it. Canvas and Moodle: fills in exports like theirs.
source "$(dirname "$0")/../../common/scripts/run/lib.sh"
chapter=${1:-02_tiled_matmul}
bank=tests/$chapter/homework
build sim homework
common/scripts/run/gradescope.sh "$chapter"
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
  got=$(tests/checks/check-gradescope.py "$AUTOGRADER/results/results.json" 2>&1) || true
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

# ---------------------------------------------------------------- a task of a teacher's own, at Gradescope
TILEWISE_TASKS=$root/private common/scripts/run/gradescope.sh tone 2>/dev/null && wrong "TILEWISE_TASKS that is no folder is taken"
mkdir -p "$root/private"
cp -R tests/grader/tasks/tone "$root/private/secret_tone"
sed -i.old 's/tone/secret_tone/g' "$root/private/secret_tone"/*.cu
rm "$root/private/secret_tone"/*.old
TILEWISE_TASKS=$root/private common/scripts/run/gradescope.sh secret_tone
rm -rf "$AUTOGRADER/source" "$AUTOGRADER/submission"
mkdir -p "$AUTOGRADER/source" "$AUTOGRADER/submission"
(cd "$AUTOGRADER/source" && cmake -E tar xf "$OLDPWD/build/gradescope/secret_tone.zip")
cp "$AUTOGRADER/source/run_autograder" "$AUTOGRADER/"
rm -rf "$AUTOGRADER/source/tilewise"
ln -s "$PWD" "$AUTOGRADER/source/tilewise"
cp "$root/private/secret_tone/solution.cu" "$AUTOGRADER/submission/homework.cu"
graded "a private task" '100 of 100, [0-9]+ tests'

# ---------------------------------------------------------------- Slurm: one submission a job
class=$root/class results=$root/results
mkdir -p "$class/Ann Adams_1234567_assignsubmission_file" "$root/bin"
cp "$bank/solution.cu" "$class/Ann Adams_1234567_assignsubmission_file/homework.cu"
cp "$bank/starter.cu" "$class/brownbob_LATE_202_9001_homework.cu"
cp "$bank/solution.cu" "$class/carl.cu"
# Of sbatch: options, a script that is run as a copy elsewhere, and its arguments.
cat >"$root/bin/sbatch" <<'SBATCH'
#!/usr/bin/env bash
set -eu
array=0
while [[ $1 == --* ]]; do
  case $1 in --array=1-*) array=${1#--array=1-} ;; esac
  shift
done
cp "$1" "$SPOOL/slurm_script"
shift
export SLURM_SUBMIT_DIR=$PWD
cd "$SPOOL"
if [ "$array" = 0 ]; then
  bash slurm_script "$@" >&2
else
  for ((i = array; i >= 1; --i)); do
    SLURM_ARRAY_TASK_ID=$i SLURM_ARRAY_TASK_MAX=$array bash slurm_script "$@" >&2 || true
  done
fi
echo 4711
SBATCH
chmod +x "$root/bin/sbatch"
mkdir "$root/spool"
PATH=$root/bin:$PATH SPOOL=$root/spool common/grader/slurm/class.sh "$chapter" "$class" "$results" >"$root/stdout" 2>&1 ||
  { wrong "Slurm: class.sh ended with $?"; cat "$root/stdout"; }
if [ "$(grep -c '^[^,]*,100.0,' "$results/table.csv")" = 2 ] && [ "$(find "$results/told" -name '*.txt' | wc -l)" -eq 3 ]; then
  echo "ok    Slurm: three jobs, one table"
else
  wrong "Slurm: the table or the feedback is not as expected"
  cat "$root/stdout" "$results/table.csv"
fi

# ---------------------------------------------------------------- Canvas and Moodle
cat >"$root/canvas.csv" <<'CSV'
Student,ID,SIS User ID,SIS Login ID,Section,Homework 01 (11),Homework 02 (12),Current Score
,,,,,Manual Posting,,(read only)
    Points Possible,,,,,100,20,(read only)
"Adams, Ann",201,S1,aadams,A,90,,90
"Brown, Bob",202,S2,bbrown,A,80,,80
"Jones, Carl",203,S3,carl,B,,5,
"Late, Lea",204,S4,lea,B,,7,
CSV
score=$(sed -n 's/^brownbob[^,]*,\([0-9.]*\),.*/\1/p' "$results/table.csv")
sed 's/^Ann Adams_1234567_assignsubmission_file,/"Adams, Ann",/' "$results/table.csv" >"$root/table.csv"
common/scripts/run/grades.py canvas "$root/table.csv" "$root/canvas.csv" "Homework 02 (12)" >"$root/import.csv" || wrong "Canvas: grades.py"
cat >"$root/expected.csv" <<CSV
Student,ID,SIS User ID,SIS Login ID,Section,Homework 02 (12)
    Points Possible,,,,,20
"Adams, Ann",201,S1,aadams,A,20
"Brown, Bob",202,S2,bbrown,A,$(awk "BEGIN { printf \"%.6g\", $score / 5 }")
"Jones, Carl",203,S3,carl,B,20
"Late, Lea",204,S4,lea,B,7
CSV
if tr -d '\r' <"$root/import.csv" | diff "$root/expected.csv" -; then
  echo "ok    Canvas: columns, points, late names"
else
  wrong "Canvas: the import is not as expected"
fi
cat >"$root/moodle.csv" <<'CSV'
Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed","Last modified (grade)","Feedback comments"
"Participant 1234567","Ann Adams",ann@x.edu,"Submitted for grading",,10.00,Yes,-,
"Participant 202","Bob Brown",bob@x.edu,"Submitted for grading",3.5,10.00,Yes,-,good
"Participant 203",Carl,carl@x.edu,"No submission",,10.00,Yes,-,
CSV
grep -v '^brownbob' "$results/table.csv" >"$root/table.csv"
common/scripts/run/grades.py moodle "$root/table.csv" "$root/moodle.csv" | tr -d '\r' >"$root/import.csv" || wrong "Moodle: grades.py"
if grep -q '^Participant 1234567,Ann Adams,ann@x.edu,Submitted for grading,10,10.00,' "$root/import.csv" &&
  grep -q '^Participant 202,Bob Brown,bob@x.edu,Submitted for grading,3.5,10.00,Yes,-,good$' "$root/import.csv" &&
  grep -q '^Participant 203,Carl,carl@x.edu,No submission,10,' "$root/import.csv"; then
  echo "ok    Moodle: the worksheet is filled in"
else
  wrong "Moodle: the worksheet is not as expected"
fi
# refused PHRASE ARGUMENT...: grades.py ends with 2 and says PHRASE.
refused() {
  local phrase=$1 status=0
  shift
  common/scripts/run/grades.py "$@" >"$root/stdout" 2>&1 || status=$?
  if [ $status != 2 ] || ! grep -qF -- "$phrase" "$root/stdout"; then
    wrong "grades.py $*: exit code $status, expected 2 and: $phrase"
    cat "$root/stdout"
  fi
}
refused 'is not in the gradebook' canvas "$results/table.csv" "$root/canvas.csv" "Homework 02 (12)"
refused 'has no column "Homework 3"' canvas "$root/table.csv" "$root/canvas.csv" "Homework 3"
refused 'cannot read' moodle "$root/table.csv" /nowhere.csv
refused 'has no column "score"' moodle "$root/canvas.csv" "$root/moodle.csv"

echo "$failures failures"
[ $failures = 0 ]
