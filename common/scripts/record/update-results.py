#!/usr/bin/env python3
"""Writes result tables and code into the pages. For maintainers; nothing else needs Python.

    cmake --preset sim && cmake --build --preset sim && common/scripts/record/update-results.py [build/sim/bin]
    common/scripts/record/update-results.py --code     only code and pictures: a moment, and nothing has to be built
    common/scripts/record/update-results.py --check    changes nothing; exit code 1 if a page is not what it would be

Exit code 2: a lesson that a page shows isn't built.

A page says which run it shows, and everything up to the closing marker is replaced:

    <!-- results:sim 02_tiled_matmul --n 256 --tile 8,16,32 -->
    <!-- /results -->

Which columns tables have stands in page_tables.py, what these are in common/include/tilewise/columns.inc. Tables of a real GPU come
from docs/results/<gpu>.json, which common/scripts/record/record-results.sh writes on that GPU:

    <!-- results:nvidia-h200 02_tiled_matmul -->
    <!-- /results -->

What caches and DRAM moved comes from docs/results/traffic-<gpu>.json, which common/scripts/record/record-traffic.sh writes:

    <!-- traffic:nvidia-h200 -->
    <!-- /traffic -->

and docs/results/dram-<gpu>.json from record-dram.sh; the words after the GPU choose kernels:

    <!-- dram:nvidia-h200 strided_read strided_write -->
    <!-- /dram -->

and what lesson 06's kernels ask L2 for from docs/results/spmv-<gpu>.json and record-spmv.sh:

    <!-- spmv:nvidia-h200 -->
    <!-- /spmv -->

What nvcc makes of inner loops, what warps wait for, and how busy tensor cores are: record-loops.py, record-stalls.sh, record-tensor.py:

    <!-- loops:nvidia-h200 12_past_cublas -->
    <!-- stalls:nvidia-h200 12_past_cublas -->
    <!-- tensor:nvidia-h200 -->

What lesson 06's preprocessing takes: `sim` with arguments for what is counted, or a GPU for what was recorded, nothing if it was not:

    <!-- preprocess:sim --n 4096 -->
    <!-- preprocess:nvidia-h200 -->
    <!-- /preprocess -->

The least time of every row beside the measured one, from docs/results/bounds-<gpu>.json and record-bounds.py:

    <!-- bounds:nvidia-h200 -->
    <!-- /bounds -->

Pictures that common/scripts/record/plot-results.py drew go in likewise, as soon as there is docs/results/NAME.svg; the text is
for who cannot see it:

    <!-- plot:nvidia-h200-05-stride Share of a copy over the stride. -->
    <!-- /plot -->

Pictures that take the place of a long table are drawn from the records by common/scripts/record/pictures.py, into docs/results/<gpu>-NAME.svg:

    <!-- picture:nvidia-h200 04-transpose -->
    <!-- /picture -->

Single figures in the text, by their key in the rows (the best row of that key; `cycles`, `ns`, `GB/s`, `GFLOP/s`):

    <!-- figure:nvidia-h200 08_roofline shared cycles --><!-- /figure -->

Every other number in the text: a formula, and after the colon how it is written. Formulas may use the functions of
`FORMULAS` in formulas.py, each of one row (or list of rows) that program, part and key=value choose, and arithmetic:

    <!-- calc ms("01 kernel=naive_matmul_row_on_x shape=2048 tile=32") / ms("01 kernel=naive_matmul shape=2048 tile=32") : {:.1f} times --><!-- /calc -->
    <!-- calc 2 * 256**3 / 32 : {:,.0f} --><!-- /calc -->

tests/checks/check-numbers.py fails on a number with a unit that is written without one.

The README's table has a few rows of several lessons, those in readme.py's SUMMARY, and its picture the matrix products among them
(docs/results/nvidia-h200-matmul.svg, drawn there):

    <!-- summary:nvidia-h200 -->
    <!-- /summary -->
    <!-- ladder:nvidia-h200 -->
    <!-- /ladder -->

Each lesson's page has the strip of the kernels so far, which common/scripts/record/ladder.py makes, and whose rows the tour finds in
docs/results/ladder-<gpu>.json:

    <!-- ladder 02_tiled_matmul -->
    <!-- /ladder -->

A program with several tables calls them parts: `results:sim 03_padded_tiles --part strides` runs one of them, and
`results:nvidia-h200 03_padded_tiles strides` shows the recorded rows of one. Words with a = choose rows, for recorded
tables and after a -- for simulated ones (_ for a blank in a key): `shape=4096` is a shape that begins with 4096,
`kernel=tiled_matmul` that kernel with whatever template arguments, `stride=1,2,32` three rows, `unprepared!=True` all but
those:

    <!-- results:nvidia-h200 02_tiled_matmul shape=4096 tile=16,32 -->
    <!-- results:sim 02_tiled_matmul --n 256 -- kernel=tiled_matmul -->

Code is the region of a file between two lines `// [tag]`. The site shows it by Doxygen's \\snippet (page-filter.sh),
GitHub what stands here. A line `\\snippet FILE TAG` in a page becomes:

    <!-- snippet: chapters/02_tiled_matmul/tiled_matmul.cuh tiled_matmul -->
    <!-- /snippet -->

Without a tag it is the whole file. In Python the lines are `# [tag]`. A line `<!-- plain-program -->` becomes a fold with the whole of
the chapter's plain.cu, or plain.py.

Who works when, as lesson 15 draws it on the simulator, of the rows that are named; and lesson 16, of a part of its and so many devices:

    <!-- drawn in_chunks<4,3> breadth_first<16,3> -->
    <!-- drawn 16 all_reduce 4 by_way_of_one ring -->
    <!-- /drawn -->

What a program printed, a file; of a program the lines between two empty ones, the first with that word in them; and what is new in a
program since another one, but for their first lines:

    <!-- file: tests/00_first_kernel/steps/no_guard.txt -->
    <!-- file: chapters/00_first_kernel/steps/03_threads.cu sqrt -->
    <!-- /file -->
    <!-- diff: chapters/00_first_kernel/steps/02_kernel.cu chapters/00_first_kernel/steps/03_threads.cu -->
    <!-- /diff -->

The puzzles of a chapter, a fold with a line for each, and all puzzles with the code that they begin with, from tests/*/puzzles:

    <!-- puzzles 02_tiled_matmul -->
    <!-- /puzzles -->
    <!-- all-puzzles -->
    <!-- /all-puzzles -->
"""
import difflib
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import bounds
import ladder as strip
import page_tables
import pictures
import readme
from counter_tables import dram_table, loops_table, spmv_table, stalls_table, tensor_table, traffic_table
from formulas import calculated, recorded_figure
from records import GPU, root

sys.path.insert(0, str(root / "common/scripts/site"))
import puzzles  # noqa: E402

options = [word for word in sys.argv[1:] if word.startswith("-")]
folders = [word for word in sys.argv[1:] if not word.startswith("-")]
if len(folders) > 1 or set(options) - {"--code", "--check"}:
    sys.exit("usage: update-results.py [--code] [--check] [build/sim/bin]")
programs = pathlib.Path(folders[0] if folders else root / "build/sim/bin").resolve()
stale = []


def keep(file, text):
    """Remembers a file that isn't what it should be now, and writes it unless that is only to be checked. True when it wrote."""
    if file.exists() and file.read_text() == text:
        return False
    stale.append(file.relative_to(root))
    if "--check" not in options:
        file.write_text(text)
    return "--check" not in options


# ---------------------------------------------------------------- what lessons say

def built(program):
    """The path of a lesson program. A tree that was built in part hasn't got all of them."""
    if not (programs / program).is_file():
        print(f"{programs / program} isn't built: `make tour` builds all lessons", file=sys.stderr)
        sys.exit(2)
    return programs / program


def run(program, arguments):
    """The rows of one run. Stops when a result was wrong: no count is shown for that."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "rows.json"
        subprocess.run([built(program), *arguments.split(), "--json", file], check=True, stdout=subprocess.DEVNULL)
        return json.loads(file.read_text())


def counted_table(program, arguments):
    arguments, _, words = f" {arguments}".partition(" -- ")
    return page_tables.counted_table(run(program, arguments), words.split())


def preprocess_table(gpu, arguments):
    if gpu == "sim":
        return page_tables.counted_preprocess_table(run("06_csr_spmv", arguments))
    return page_tables.preprocess_table(gpu)


def who_works_when(words):
    """The lines of each kernel: its name, and who works when."""
    words = words.split()
    program, part, kernels = "15_streams_and_graphs", "overlap", words
    if words[0] == "16":
        program, part, kernels = "16_many_gpus", words[1], [f"{kernel}, {words[2]} devices" for kernel in words[3:]]
    said = subprocess.run([built(program), "--part", part], check=True, text=True, capture_output=True)
    lines = said.stdout.split("\n")
    blocks = ["\n".join(itertools.takewhile(bool, lines[lines.index(kernel):])) for kernel in kernels]
    return "\n```text\n" + "\n\n".join(blocks) + "\n```\n\n"


# ---------------------------------------------------------------- code and files

def code(file, tag):
    """What stands between the two lines // [tag], in Python # [tag], moved to the left margin, or everything; without the tags of
    smaller regions."""
    lines = (root / file).read_text().split("\n")
    comment = "#" if file.endswith(".py") else "//"
    ends = [k for k, line in enumerate(lines) if line.strip() == f"{comment} [{tag}]"] if tag else [-1, len(lines)]
    if len(ends) != 2:
        sys.exit(f"{file}: {len(ends)} lines {comment} [{tag}], there must be two")
    inside = [line for line in lines[ends[0] + 1:ends[1]] if not re.fullmatch(comment + r" \[\w+\]", line.strip())]
    language = "python" if file.endswith(".py") else "cpp" if file.endswith("pp") else "cuda"
    return f"\n```{language}\n" + textwrap.dedent("\n".join(inside)).strip("\n") + "\n```\n\n"


def plain_program(page):
    """The fold with the page's chapter's plain.cu or plain.py; its code is a snippet without a tag."""
    file = page.parent.relative_to(root) / "plain.cu"
    if not (root / file).exists():
        file = file.with_suffix(".py")
    return f"<details>\n<summary>The whole program: {file.name}</summary>\n\n<!-- snippet: {file} -->\n<!-- /snippet -->\n\n</details>"


def lines_of(file, word):
    """A file, or the first of its groups of lines that has the word in it. What a program printed has no language."""
    text = (root / file).read_text()
    if word:
        text = next((group for group in text.split("\n\n") if word in group), None) or sys.exit(f"{file} has no {word}")
    language = {".cu": "cuda", ".cuh": "cuda", ".cpp": "cpp", ".hpp": "cpp"}.get(pathlib.Path(file).suffix, "")
    return f"\n```{language}\n" + text.rstrip("\n") + "\n```\n\n"


def difference(old, new):
    """The lines that went (-) and came (+)."""
    lines = [(root / file).read_text().split("\n")[1:] for file in (old, new)]
    changes = list(difflib.unified_diff(*lines, n=0, lineterm=""))[3:]
    return "\n```diff\n" + "\n".join(" ..." if line.startswith("@@") else line for line in changes) + "\n```\n\n"


# ---------------------------------------------------------------- pictures

def plot(name, text):
    if not (root / f"docs/results/{name}.svg").exists():
        return ""
    return f'\n<img src="../../docs/results/{name}.svg" alt="{text}">\n\n'


def picture_on(page, gpu, name):
    """A picture from the records, as it stands on a page."""
    text, words = pictures.picture(gpu, name)
    file = root / f"docs/results/{gpu}-{name}.svg"
    keep(file, text)
    return f'\n<img src="{os.path.relpath(root, page.parent)}/{file.relative_to(root)}" alt="{pictures.escaped(words)}">\n\n'


def ladder_picture(gpu):
    text, words = readme.ladder(gpu)
    file = root / f"docs/results/{gpu}-matmul.svg"
    keep(file, text)
    return f'\n<img src="{file.relative_to(root)}" alt="{words}">\n\n'


# ---------------------------------------------------------------- pages

def regions_of(page):
    """What opens a region, and what goes between that and its closing marker, of the words in brackets. Of code and pictures first."""
    code_and_pictures = [
        (r"^<!-- snippet: (\S+)(?: (\S+))? -->\n", code),
        (r"^<!-- file: (\S+)(?: (\S+))? -->\n", lines_of),
        (r"^<!-- diff: (\S+) (\S+) -->\n", difference),
        (r"^<!-- puzzles (\S+) -->\n", lambda chapter: puzzles.listed(root, chapter)),
        (r"^<!-- all-puzzles -->\n", lambda: puzzles.all_of_them(root)),
        (r"<!-- picture:(\S+) (\S+) -->\n", lambda gpu, name: picture_on(page, gpu, name)),
    ]
    results = [
        (r"<!-- drawn((?: \S+)+) -->\n", who_works_when),
        (r"<!-- results:sim (\S+) (.*?) -->\n", counted_table),
        (r"<!-- results:(?!sim )(\S+) (\S+)((?: \S+)*?) -->\n", page_tables.recorded_table),
        (r"<!-- figure:(\S+) (\S+) (\S+) (\S+) -->", recorded_figure),
        (r"<!-- calc (.*?) : (\S*\{.*?\}.*?) -->", calculated),
        (r"<!-- bounds:(\S+) -->\n", bounds.tables),
        (r"<!-- dram:(\S+) (.*?) -->\n", dram_table),
        (r"<!-- loops:(\S+) (\S+) -->\n", loops_table),
        (r"<!-- stalls:(\S+) (\S+) -->\n", stalls_table),
        (r"<!-- tensor:(\S+) -->\n", tensor_table),
        (r"<!-- spmv:(\S+) -->\n", spmv_table),
        (r"<!-- preprocess:(\S+)((?: \S+)*?) -->\n", preprocess_table),
        (r"<!-- traffic:(\S+)((?: \S+)*?) -->\n", traffic_table),
        (r"<!-- summary:(\S+) -->\n", readme.summary_table),
        (r"<!-- ladder (\S+) -->\n", lambda chapter: strip.strip(GPU, chapter)),
        (r"<!-- plot:(\S+) (.*?) -->\n", plot),
        (r"<!-- ladder:(\S+) -->\n", ladder_picture),
    ]
    return code_and_pictures + (results if "--code" not in options else [])


def filled_in(page):
    """The page's text as it should be."""
    text = re.sub(r"^\\snippet (\S+) (\S+)$", r"<!-- snippet: \1 \2 -->\n<!-- /snippet -->", page.read_text(), flags=re.M)
    text = re.sub(r"^<!-- plain-program -->$", lambda found: plain_program(page), text, flags=re.M)
    for opening, fill in regions_of(page):
        closing = re.sub(r"<!-- ([a-z-]+).*", r"<!-- /\1 -->", opening)  # with the ^ that the opening may begin with
        text = re.sub(f"({opening}).*?({closing})", lambda found: found[1] + fill(*found.groups()[1:-1]) + found.groups()[-1], text,
                      flags=re.S | re.M)
    return text


if "--code" not in options:
    keep(root / f"docs/results/ladder-{GPU}.json", json.dumps(strip.steps(GPU), indent=1) + "\n")
for page in [root / "README.md", *sorted(root.glob("chapters/*/*.md")), *sorted(root.glob("docs/*.md"))]:
    if keep(page, filled_in(page)):
        print("updated", page.relative_to(root))
if stale and "--check" in options:
    print("not up to date:", *stale, "- run common/scripts/record/update-results.py", file=sys.stderr)
    sys.exit(1)
