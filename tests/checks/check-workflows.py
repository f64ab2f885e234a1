#!/usr/bin/env python3
"""check-workflows.py [FILE...]: are .github/workflows/*.yml what GitHub takes for workflows? Nothing is run.

YAML without a key twice; triggers; jobs with a machine and steps; each step uses an action at a version, or runs something that bash
can read; `needs`, `steps.ID` and permissions name what is there.
Exit code 1 for findings, 2 for a file that isn't there, 77 without PyYAML.
"""
import re
import subprocess
import sys
from pathlib import Path

try:
    import yaml
except ImportError:
    print("PyYAML is not here (Debian, Ubuntu: apt-get install python3-yaml)")
    sys.exit(77)

TOP = {"name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"}
JOB = {"name", "permissions", "needs", "if", "runs-on", "environment", "concurrency", "outputs", "env", "defaults", "steps", "timeout-minutes",
       "strategy", "continue-on-error", "container", "services", "uses", "with", "secrets"}
STEP = {"id", "if", "name", "uses", "run", "working-directory", "shell", "with", "env", "continue-on-error", "timeout-minutes"}
SCOPES = {"actions", "attestations", "checks", "contents", "deployments", "discussions", "id-token", "issues", "packages", "pages",
          "pull-requests", "repository-projects", "security-events", "statuses"}


class Strict(yaml.SafeLoader):
    """YAML as GitHub reads it: `on` is a word, not true; a key that stands twice is an error."""

    def construct_mapping(self, node, deep=False):
        keys = [self.construct_object(key) for key, _ in node.value]
        twice = {key for key in keys if keys.count(key) > 1}
        if twice:
            raise yaml.YAMLError(f"twice in one place: {', '.join(map(str, twice))}, line {node.start_mark.line + 1}")
        return super().construct_mapping(node, deep)


Strict.yaml_implicit_resolvers = {first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
                                  for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}


def unknown(found, known, where):
    return [f"{where}: GitHub knows no '{key}'" for key in found if key not in known]


def of_step(step, where):
    said = unknown(step, STEP, where)
    if ("uses" in step) == ("run" in step):
        said.append(f"{where}: needs either 'uses' or 'run'")
    if "uses" in step and not re.fullmatch(r"[\w.-]+/[\w./-]+@[\w.-]+|\./\S+", step["uses"]):
        said.append(f"{where}: '{step['uses']}' names no action at a version")
    if "run" in step:
        script = re.sub(r"\$\{\{.*?\}\}", "expression", step["run"])
        if subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True).returncode:
            said.append(f"{where}: bash cannot read what it runs")
    return said


def of_workflow(flow):
    if not isinstance(flow, dict):
        return ["is no mapping"]
    said = unknown(flow, TOP, "at the top")
    said += [f"no '{key}'" for key in ("on", "jobs") if not flow.get(key)]
    said += unknown(flow.get("permissions") or {}, SCOPES, "permissions") if isinstance(flow.get("permissions"), dict) else []
    jobs = flow.get("jobs") or {}
    for name, job in jobs.items():
        said += unknown(job, JOB, name)
        needs = job.get("needs", [])
        said += [f"{name}: needs '{other}', which is no job" for other in ([needs] if isinstance(needs, str) else needs) if other not in jobs]
        if not job.get("runs-on") or not job.get("steps"):
            said.append(f"{name}: no machine, or no steps")
            continue
        for number, step in enumerate(job["steps"], 1):
            said += of_step(step, f"{name}, step {number}")
        ids = {step.get("id") for step in job["steps"]}
        said += [f"{name}: steps.{wanted} is no step" for wanted in re.findall(r"\$\{\{[^}]*\bsteps\.([\w-]+)", str(job)) if wanted not in ids]
    return said


def main():
    files = [Path(name) for name in sys.argv[1:]] or sorted((Path(__file__).resolve().parents[2] / ".github/workflows").glob("*.yml"))
    found = 0
    for file in files:
        if not file.exists():
            print(f"there is no {file}", file=sys.stderr)
            return 2
        try:
            said = of_workflow(yaml.load(file.read_text(encoding="utf-8"), Strict))
        except yaml.YAMLError as error:
            said = [str(error)]
        for text in said:
            print(f"{file.name}: {text}")
        found += len(said)
    print(f"{len(files)} workflows, {found} findings")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
