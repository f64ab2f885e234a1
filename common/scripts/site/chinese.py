#!/usr/bin/env python3
"""The Chinese edition: pages NAME.zh.md beside the English NAME.md. docs/chinese.md says how to write one.

    common/scripts/site/chinese.py expand PAGE.zh.md     the whole page: blocks of the English page stand where placeholders name them
    common/scripts/site/chinese.py begin PAGE.md         what a translator begins with: the English prose, and placeholders for the rest
    common/scripts/site/chinese.py begin CHAPTER         the same for a chapter's puzzles, 00_first_kernel

A page has prose, which each language writes for itself, and blocks, which both share: what stands between the markers of
update-results.py, fenced and indented code, pictures, explorers. check-chinese.py and page-filter.sh use this file.
"""
import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(Path(__file__).resolve().parent))
import puzzles  # noqa: E402

PLACEHOLDER = re.compile(r"^<!-- same: (.*?) -->$")
STAMP = re.compile(r"^<!-- english: (\w+) -->$", re.M)
OPENS = re.compile(r"^<!-- ([a-z-]+)((?::[^\s>]*)?)((?: (?:(?!-->).)*)?) -->$")
CALC = re.compile(r"(<!-- (?:calc|figure|derived)\b(?:(?!-->).)*-->)(.*?)(<!-- /(?:calc|figure|derived) -->)", re.S)

# Heads of columns that tables of many pages have, and what stands below such tables. What is not here stays English.
COLUMNS = {
    "shape": "形状", "kernel": "核函数", "threads": "线程数", "tile": "分块", "time": "时间", "of peak": "占峰值", "of one thread": "相对单线程",
    "load requests": "加载请求", "store requests": "存储请求", "sectors per load": "每次加载的扇区", "sectors per store": "每次存储的扇区",
    "sectors per request": "每个请求的扇区", "tag passes": "标签趟数", "data passes": "数据趟数", "same block": "相对同形状线程块",
    "best naive": "相对最快的朴素核函数", "of cuBLAS": "占 cuBLAS", "L1 passes": "L1 趟数", "binds": "瓶颈", "matrix": "矩阵", "wavefronts": "wavefront",
    "bytes": "字节", "registers": "寄存器", "shared memory": "共享内存", "occupancy": "占用率", "block": "线程块", "blocks": "线程块数",
    "warps": "warp 数", "measured": "实测", "at least": "下限", "device": "设备", "step": "步骤", "load": "加载", "store": "存储",
    "stride": "步长", "offset": "偏移", "array": "数组", "copy": "复制", "of copy": "占复制", "requests": "请求", "sectors": "扇区", "cycles": "周期",
    "lanes at work": "工作的 lane 数", "order": "次序", "gap": "空隙", "of NN": "相对 N N", "of FP32": "相对 FP32", "of loop": "相对循环",
    "L1 hits": "L1 命中", "requests to L2, millions": "向 L2 的请求，百万", "of L2's lookups": "占 L2 查找峰值", "of DRAM": "占显存峰值",
    "plan, bytes": "分配方案，字节", "`spmv_cuts`: load requests": "`spmv_cuts`：加载请求", "`spmv_row_stats`: load requests": "`spmv_row_stats`：加载请求",
    "both, of the sectors of one `spmv_balanced`": "两者之和，占一次 `spmv_balanced` 的扇区", "product": "乘积", "prepared by": "预处理用",
    "it takes": "预处理耗时", "of it `spmv_row_stats`": "其中 `spmv_row_stats`", "one product": "一次乘积",
    "pays against `spmv_scalar` after": "几次之后比 `spmv_scalar` 划算", "against cuSPARSE unprepared after": "几次之后比未预处理的 cuSPARSE 划算",
    "quartiles": "四分位数", "shared wavefronts": "共享内存 wavefront", "bank conflicts": "bank 冲突", "by formula": "按公式", "FLOP per byte": "FLOP/字节",
    "memory": "内存", "row of tile": "分块的行长", "rate": "速率", "op": "操作", "of library": "占库函数", "type": "类型", "of cuSPARSE": "占 cuSPARSE",
    "of cuBLASLt": "占 cuBLASLt", "of a copy": "占复制", "largest error": "最大误差", "its bound": "误差上限", "call": "调用",
    "blocks per SM": "每个 SM 的线程块", "DRAM bytes, at least": "DRAM 字节下限", "bytes to DRAM per word": "每个字写入 DRAM 的字节",
    "bytes from DRAM per word": "每个字从 DRAM 读的字节", "L2 hint": "L2 提示",
    "size": "尺寸", "instructions": "指令数", "multiply-adds": "乘加", "of all": "占全部", "loads from shared memory": "从共享内存加载",
    "clocks that issue": "发射指令的周期", "not chosen": "未被选中", "copies and loads": "复制与加载", "barrier": "同步屏障", "dispatch": "分派",
    "no instruction": "没有指令", "read from DRAM": "从 DRAM 读取", "clock": "时钟频率", "tensor cores busy": "Tensor Core 忙",
    "from L2 to the SMs": "从 L2 到 SM", "sums": "不同的和", "of naive": "占朴素核函数", "of cublasSgemm": "占 cublasSgemm",
    "L1 requests": "L1 请求", "L1 sectors": "L1 扇区", "found in L1": "在 L1 中找到", "tag passes per request": "每个请求的标签趟数",
    "data passes per request": "每个请求的数据趟数", "from L2, MB": "来自 L2，MB", "from DRAM, MB": "来自 DRAM，MB", "time, ms": "时间，ms",
    "steps": "步数", "of measured roof": "占实测屋顶",
    "shared loads": "共享内存加载", "wavefronts per load": "每次加载的 wavefront", "shared stores": "共享内存存储",
    "wavefronts per store": "每次存储的 wavefront", "bytes per block": "每个线程块的字节", "occupancy %": "占用率 %", "of stride 1": "占步长 1",
    "best unpadded": "相对最快的无填充版", "shared memory per block": "每个线程块的共享内存", "each word of A, of B is used": "A、B 的每个字用几次",
    "flips": "翻转次数", "of pinned": "相对 pinned", "of launches": "相对 launches", "of streams<1>": "相对 streams<1>",
    "of one_stream": "相对 one_stream",
    "devices": "设备数", "of through_host": "相对 through_host", "of by_way_of_one": "相对 by_way_of_one", "of one_device": "相对 one_device",
}
PHRASES = [
    (r"Binds: the part of the GPU that this work keeps busy the longest, and the share of the measured time that it needs\. "
     r"\(DRAM: without what L2 may have had before, and may still hold after\.\) More: \[bounds\]\((.*?)\)\.",
     r"瓶颈：这项工作让 GPU 的哪个部件忙得最久，以及它占实测时间的多少。（DRAM：不计 L2 里可能原先就有、事后可能还留着的数据。）详见[时间下限](\1)。"),
    (r"Each kernel was timed in turns with the copy(?=[.;])", "每个核函数都与复制轮流计时"),
    (r"Each kernel was timed in turns with loop(?=[.;])", "每一行都与那个循环轮流计时"),
    (r"Each kernel was timed in turns with the better of cuSPARSE's algorithms above it, the last row of 100\.0 %(?=[.;])",
     "每个核函数都与它上方 cuSPARSE 较快的那种算法（往上最近的 100.0 % 那一行）轮流计时"),
    (r"Each kernel was timed in turns with the unpadded kernel(?=[.;])", "每个核函数都与不加填充的轮流计时"),
    (r"Each kernel was timed in turns with the library(?=[.;])", "每个核函数都与库函数轮流计时"),
    (r"Each kernel was timed in turns with (\w+(?:<[\d,]+>)?)(?=[.;])", r"每个核函数都与 \1 轮流计时"),
    (r"(?<=轮流计时); ratios are of those turns, the row of 100\.0 % was timed alone\.", "；比值取自这些轮次，100.0 % 那一行是单独计时的。"),
    (r"(?<=轮流计时)\.", "。"),
    (r" of ([\dx, ]+|[\d,]+ floats) \((\w+) (\d+)\): (?=launched|in a CUDA graph)", r"（\1，\2 为 \3）："),
    (r"\bthreadIdx\.x counts rows\b", "threadIdx.x 数行"),
    (r"\bthreadIdx\.x counts columns\b", "threadIdx.x 数列"),
    (r"\btiles in shared memory(?=[ :*;.]|$)", "共享内存分块"),
    (r"\bthe same tiles, padded\b", "同样的分块，加填充"),
    (r"\bcuBLAS, NVIDIA's library\b", "cuBLAS（NVIDIA 的库）"),
    (r"\b(\d+) elements per thread\b", r"每个线程 \1 个元素"),
    (r"\bloads of 16 bytes\b", "16 字节的加载"),
    (r"\basynchronous copies(?=[ :*;.]|$)", "异步复制"),
    (r"\bpast the library\b", "超过库函数"),
    (r"\brunning sums along rows\b", "沿行的前缀和"),
    (r"(?<=\d\d )transpose\b", "转置"),
    (r"(?<=\d\d )copy\b", "复制"),
    (r"\bregular sparse matrix times vector\b", "规则稀疏矩阵乘向量"),
    (r"\*\*Kernels so far\*\*, what moves data on an (.*?), in % of a copy's speed:", r"**到目前为止的核函数**：在 \1 上搬运数据，占复制速度的百分比："),
    (r"L1 passes: through L1's banks, for each multiply-add of a warp\. Lessons 01 and 02 ran without cuBLAS: their share is of 07's run\.",
     "L1 趟数：一个 warp 的每次乘加经过 L1 的 bank 的趟数。第 01、02 课没有运行 cuBLAS：它们的占比以第 07 课测得的 cuBLAS 为准。"),
    (r"Sectors: those that are asked for, for each one that has to be moved\. Each lesson has a copy in its own run; 06, which has none, is "
     r"compared with 05's\.", "扇区：每个必须搬运的扇区，实际请求了几个。各课都与同一次运行里的复制相比；第 06 课没有复制，与第 05 课的相比。"),
    (r"L1's banks, (\d+ %)", r"L1 的 bank，\1"),
    (r"L1's tags, (\d+ %)", r"L1 的标签，\1"),
    (r"load/store unit, (\d+ %)", r"加载/存储单元，\1"),
    (r"issue slots, (\d+ %)", r"指令发射，\1"),
    (r"multiply-adds, (\d+ %)", r"乘加，\1"),
    (r"^Simulated ([^:;\n]+); the calls are computed by the simulator's own library:$", r"模拟的 \1，调用由模拟器自己的库来计算："),
    (r"^Simulated ([^:\n]+):$", r"模拟的 \1："),
    (r"Medians of kernel time; every result was checked first\.", "时间是核函数执行时间的中位数；每个结果都先验证过。"),
    (r"IQR: third minus first quartile of the times, as a share of the median\.", "IQR：四分位距占中位数的比例。"),
    (r"(?<=\d) words(?= \||：$)", " 个字"),
    (r"(?<=\d) floats(?= \||：$)", " 个 float"),
    (r"(?<=\d) particles(?= \||：$)", " 个粒子"),
    (r"(?<=\d) bytes(?= \|)", " 字节"),
    (r"(?<=\| )stride (\d+)(?= \|)", r"步长 \1"),
    (r"(?<=\| )offset (\d+)(?= \|)", r"偏移 \1"),
    (r"(?<=\| )never(?= \|)", "永不"),
    (r"(?<=\| )within the spread(?= \|)", "在波动之内"),
    (r"(?<=\| )not counted(?= \|)", "未计数"),
    (r"Nsight Compute, caches empty\.", "Nsight Compute，缓存是空的。"),
    (r"Kernels that take more than ten times as long as the best are left out\.", "时间超过最快者 10 倍的核函数没有列出。"),
    (r"Medians\. Preprocessing by the host's clock, from the call until the device has done it; products and `spmv_row_stats` by the device's\.",
     "中位数。预处理用主机的时钟计时，从调用到设备做完为止；乘积和 `spmv_row_stats` 用设备的时钟。"),
    (r"The last two columns are products; cuSPARSE unprepared is the faster of its two algorithms without `cusparseSpMV_preprocess\(\)`\.",
     "最后两列的单位是乘积的次数；未预处理的 cuSPARSE，取它不做 `cusparseSpMV_preprocess()` 时两种算法中较快的一种。"),
    (r"The rows were timed one after the other, not in turns\.", "各行依次计时，没有轮流交错。"),
    (r"Calls were launched one by one, L2 emptied before each\.", "逐次启动，每次启动前清空 L2。"),
    (r"Where the two were not timed in the same way, no ratio is shown\.", "两者计时方式不同时，不给出比值。"),
    (r"Quartiles: of the ratio, turn by turn, in %\.", "四分位数：逐轮比值的四分位数，单位 %。"),
    (r"With a hint, \*of copy\* is of `copy_evict_last`, which has it, too\.", "带提示的行里，“占复制”是与同样带提示的 `copy_evict_last` 相比。"),
    (r"^\| 32, prefetched \|", "| 32，预取 |"),
    (r"\b8, 8 times \|", "8、8 次 |"),
    (r"(?<=\d): too many \|", "：太多 |"),
    (r"^(\| 64 \| 4,096.*\| )none(?= \|)", r"\1放不下"),
    (r"Calls were launched one by one, with L2 as the call before left it\.", "逐次启动，L2 保持上一次调用后的样子。"),
    (r"\bThe others: (?=launched|in a CUDA graph)", "其余："),
    (r"\bAll of ([^:;]+?): (?=launched|in a CUDA graph)", r"\1 的全部各行："),
    (r" of ([\dx, ]+|[\d,]+ floats): (?=launched|in a CUDA graph)", r"（\1）："),
    (r"(?<=`): (?=launched one by one|in a CUDA graph)", "："),
    (r"\blaunched one by one, L2 emptied before each\.", "逐次启动，每次启动前清空 L2。"),
    (r"\blaunched one by one, with L2 as the call before left it\.", "逐次启动，L2 保持上一次调用后的样子。"),
    (r"\bin a CUDA graph, with L2 as the call before left it\.", "放在 CUDA graph 里启动，L2 保持上一次调用后的样子。"),
    (r"(?<=\d) floats\b(?= \||[,:）]| 的全部各行)", " 个 float"),
    (r"^Inner loops in machine code for (\w+), by nvcc ([\d.]+)\.$", r"\1 机器码的内层循环，由 nvcc \2 编译。"),
    (r"Waits: warps for each instruction issued\.", "等待：每发射一条指令时，有多少个 warp 在等。"),
    (r"Nsight Compute, caches emptied before each kernel\. 1 MB is 1,000,000 bytes\.", "Nsight Compute，每个核函数运行前清空缓存。1 MB 是 1,000,000 字节。"),
    (r"<summary>Begin with (\d+) small puzzles?, (\d+) minutes in all: make learn</summary>", r"<summary>先做 \1 道小谜题，共约 \2 分钟：make learn</summary>"),
    (r"# from the first that you haven't solved; judges whenever you save", "# 从第一道没做出来的开始；每次保存都会评判"),
    (r"# this one, once", "# 只评判这一道，一次"),
    (r"\[The code that each begins with\]", "[每道题的初始代码]"),
    (r"^(\d+) small puzzles?, (\d+) minutes in all, with \[the lesson\](\([^)]*\))\.", r"\1 道小谜题，共约 \2 分钟，配合[这一课]\3。"),
    (r"^(`make puzzle-\d\d-\d+`) judges (\[.*)\.$", r"\1 评判 \2。"),
    (r"From lesson 01 on, every page shows the kernels so far beside NVIDIA's library\.",
     "从第 01 课起，每页都会把学到目前为止的核函数与 NVIDIA 的库放在一起比较。"),
    (r"\*\*Kernels so far\*\*, products\s+of\s+(.*?)\s+floats\s+on\s+an\s+(.*?),\s+in\s+%\s+of\s+cuBLAS's\s+speed:",
     r"**到目前为止的核函数**：\1 的 float 矩阵相乘，在 \2 上，占 cuBLAS 速度的百分比："),
    (r": this\s+lesson\*\*", "：本课**"),
    (r"^Next: (\[.*\))\.$", r"下一课：\1。"),
    (r"<summary>In numbers, and what binds each kernel \(with this lesson's: predict first\)</summary>",
     "<summary>具体数字，以及每个核函数的瓶颈（含本课的结果：请先预测）</summary>"),
    (r"<summary>In numbers, and what binds each kernel</summary>", "<summary>具体数字，以及每个核函数的瓶颈</summary>"),
    (r"(?<=\| )([\d.]+) to ([\d.]+)(?= \|)", r"\1 到 \2"),
    (r"Medians; every result was checked\.", "中位数；每个结果都验证过。"),
    (r"The measured roof: the best rate of `fma_chains`, or the intensity times the rate of `copy_words`\.",
     "实测屋顶：`fma_chains` 的最高速率，或者算术强度乘以 `copy_words` 的速率。"),
    (r"^\| registers: a multiply-add \|", "| 寄存器：一次乘加 |"),
    (r"^\| shared memory \|(?= `)", "| 共享内存 |"),
    (r"^\| constant, a warp at one address \|", "| 常量内存，一个 warp 用同一个地址 |"),
    (r"^\| constant, a warp at 32 addresses \|", "| 常量内存，一个 warp 用 32 个地址 |"),
    (r"^\| local memory \|", "| 局部内存 |"),
    (r"^\| global memory \|", "| 全局内存 |"),
    (r"^\| global memory, in (L1|L2|DRAM) \|", r"| 全局内存，在 \1 里 |"),
    (r"^\| cycles and nanoseconds \|", "| 周期与纳秒 |"),
    (r"SKIP: no time passes on the simulator; the walks end where they must", "SKIP：模拟器上没有时间流逝；每条路都走到了该到的地方"),
    (r"SKIP: the simulator has no caches; the walk would be the one above, only longer", "SKIP：模拟器没有缓存；走的路与上面一样，只是更长"),
    (r"SKIP: a rate needs time; what can be counted stands above", "SKIP：速率需要时间；能计数的已在上面"),
    (r"SKIP: needs rows and columns that are multiples of (\d+)", r"SKIP：行数和列数必须是 \1 的倍数"),
    (r"^\| (\d+) warps per SM, (\d+) chains? per thread \|", r"| 每个 SM \1 个 warp，每个线程 \2 条链 |"),
    (r"^\| shared memory, read \|", "| 共享内存，读 |"),
    (r"^\| (L1|L2), read \|", r"| \1，读 |"),
    (r"^\| DRAM, read: (\d+) warps, (\d+) loads? \|", r"| DRAM，读：\1 个 warp，\2 次加载 |"),
    (r"^\| DRAM, copy \|", "| DRAM，复制 |"),
    (r"^\| DRAM, copy by the driver \|", "| DRAM，驱动程序的复制 |"),
    (r"^\| all of them \|", "| 全部 warp |"),
    (r"^\| one warp alone: loads and addition \|", "| 单独一个 warp：加载和加法 |"),
    (r"^\| (\d+) multiply-adds? per element \|", r"| 每个元素 \1 次乘加 |"),
    (r"(?<=。) (?=\S)", ""),  # the last: no blank between Chinese sentences
]
KINDS = {"write": "编写", "repair": "修复", "improve": "改进", "predict": "预测"}


class Block:
    """What both editions show: `kind` and `words` name it, `text` is all of it with its markers."""

    def __init__(self, kind, words, text):
        self.kind, self.words, self.text = kind, words.strip(), text


def pieces(text):
    """A page's prose (strings) and blocks, in order."""
    lines, out, at = text.split("\n"), [], 0
    last, in_list = "", False

    def prose(line):
        if out and isinstance(out[-1], str):
            out[-1] += line + "\n"
        else:
            out.append(line + "\n")

    while at < len(lines):
        line, end, name = lines[at], None, None
        marker = OPENS.match(line)
        if marker and marker[1] == "explorer":
            end, name = at, ("explorer", line[len("<!-- explorer: "):-len(" -->")])
        elif marker and marker[1] not in ("same", "english"):
            closing = f"<!-- /{marker[1]} -->"
            if closing in lines[at:]:
                end, name = lines.index(closing, at), (marker[1] + marker[2].rstrip(":"), marker[3])
        elif line.startswith("```"):
            end = next((i for i in range(at + 1, len(lines)) if lines[i].startswith("```")), len(lines) - 1)
            name = ("code", "")
        elif re.match(r"<img\b", line):
            end = next(i for i in range(at, len(lines)) if ">" in lines[i])
            name = ("img", re.search(r'src="([^"]*)"', " ".join(lines[at:end + 1]))[1])
        elif line.startswith("    ") and not last.strip() and not in_list:
            end = at
            while end + 1 < len(lines) and (lines[end + 1].startswith("    ") or not lines[end + 1].strip()):
                end += 1
            while not lines[end].strip():
                end -= 1
            name = ("code", "")
        if name:
            out.append(Block(*name, "\n".join(lines[at:end + 1])))
            last, in_list, at = lines[end], False, end + 1
            continue
        in_list = bool(re.match(r" *([-*]|\d+\.) ", line)) or in_list and not re.match(r"\S", line)
        prose(line)
        last, at = line, at + 1
    return out


def blocks(text):
    return [piece for piece in pieces(text) if isinstance(piece, Block)]


def named(words, among):
    """The blocks that a placeholder names: `diff 04_grid.cu`, `img grid.svg`, `code #2`."""
    words = words.split()
    number = int(words.pop()[1:]) if words and re.fullmatch(r"#\d+", words[-1]) else None
    found = [block for block in among if words and block.kind == words[0] and all(word in block.words for word in words[1:])]
    if number is None and len(found) > 1 and len(words) > 1:  # 02_kernel.cu: what becomes of 01, not what 03 is made of
        found = [block for block in found if block.words.endswith(words[-1])]
    return found if number is None else found[number - 1:number] if number else []


def name_of(block, among):
    """The shortest placeholder that names this block and no other."""
    last = block.words.split()[-1].rsplit("/", 1)[-1] if block.words else ""
    for words in (block.kind, f"{block.kind} {last}"):
        if named(words, among) == [block]:
            return words
    return f"{block.kind} #{1 + [other for other in among if other.kind == block.kind].index(block)}"


def english_of(page):
    return page.with_name(page.name.replace(".zh.md", ".md"))


def chinese_of(page):
    return page.with_name(page.name.removesuffix(".md") + ".zh.md")


def headings(text):
    """(level, text) of a page's headings, outside of blocks."""
    prose = "\n".join(piece for piece in pieces(text) if isinstance(piece, str))
    return [(len(level), words.strip()) for level, words in re.findall(r"^(#+) +(.*)$", prose, re.M)]


def hash_of(text):
    """Of the English prose: blocks count by their names, computed values by their formulas, line breaks not at all."""
    said = "".join(piece if isinstance(piece, str) else f"[{piece.kind} {piece.words}]\n" for piece in pieces(text))
    said = CALC.sub(r"\1\3", said)
    return hashlib.sha256(re.sub(r"\s+", " ", said).strip().encode()).hexdigest()[:12]


# ---------------------------------------------------------------- puzzles

def puzzle_file(chapter):
    return ROOT / "docs/chinese" / f"puzzles-{chapter}.md"


def hints_of(chapter, puzzle):
    tail = (ROOT / "tests" / chapter / "puzzles" / puzzle.name).read_text(encoding="utf-8").split(puzzles.CHECK)[1]
    return re.findall(r"^// Hint: (.*(?:\n// (?![A-Z][a-z]*: ).*)*)", tail, re.M)


def puzzles_in_english(chapter):
    """{id: (title, goal, [hints])}"""
    return {puzzle.id: (puzzle.title, puzzles.marked_up(puzzle.goal),
                        [re.sub(r"\s*\n//\s*", " ", hint) for hint in hints_of(chapter, puzzle)])
            for puzzle in puzzles.of_chapter(ROOT, chapter)}


def puzzles_in(text):
    """{id: (title, goal, [hints])} of a file of docs/chinese."""
    out = {}
    for id_, title, body in re.findall(r"^## (\d\d-\d+) (.*)\n((?:(?!^## ).*\n?)*)", text, re.M):
        hints = re.findall(r"^- (.*)$", body, re.M)
        out[id_] = (title.strip(), " ".join(re.sub(r"^- .*$", "", body, flags=re.M).split("\n")).strip(), hints)
    return out


def puzzles_hash(chapter):
    return hashlib.sha256(repr(puzzles_in_english(chapter)).encode()).hexdigest()[:12]


def puzzles_as_begun(chapter):
    lines = [f"<!-- english: {puzzles_hash(chapter)} -->", f"# {chapter[:2]}", ""]
    for id_, (title, goal, hints) in puzzles_in_english(chapter).items():
        lines += [f"## {id_} {title}", "", goal, "", *[f"- {hint}" for hint in hints], ""]
    return "\n".join(lines)


def with_puzzles(text):
    """The lists that puzzles.py makes, with Chinese titles and goals (and hints where there is room for them)."""
    known = {}
    for file in sorted((ROOT / "docs/chinese").glob("puzzles-*.md")):
        known.update(puzzles_in(file.read_text(encoding="utf-8")))

    def in_list(found):
        title, goal, _ = known.get(found[1], (found[2], found[6], []))
        return f"- **{found[1]}** [{title}]({found[3]})，{KINDS[found[4]]}，{found[5]} 分钟。{goal}"

    def in_fold(found):
        title, goal, hints = known.get(found[1], (found[2], found[5], []))
        fold = "".join(f"\n\n<details>\n<summary>提示 {i}</summary>\n\n{hint}\n\n</details>" for i, hint in enumerate(hints, 1))
        return f"<summary>{found[1]} {title}：{KINDS[found[3]]}，{found[4]} 分钟</summary>\n\n{goal}{fold}\n\n```"

    text = re.sub(r"^- \*\*(\d\d-\d+)\*\* \[(.*?)\]\((\S+)\), (\w+), (\d+) min\. (.*)$", in_list, text, flags=re.M)
    text = re.sub(r"<summary>(\d\d-\d+) (.*?): (\w+), (\d+) min</summary>\n\n(.*)\n\n```", in_fold, text)
    return text


def title_of(page):
    found = re.search(r"^# (.*)$", page.read_text(encoding="utf-8"), re.M)
    return found[1] if found else ""


# ---------------------------------------------------------------- the whole page

def translated(block):
    """A shared block, with the words of tables' heads and of what our scripts write."""
    text = block.text
    if block.kind in ("code", "snippet", "diff", "file", "img", "explorer"):
        return text
    if block.kind == "ladder":  # its paragraphs are wrapped, and phrases are not
        text = re.sub(r"(?<=[^\n>|-])\n(?=[^\n<|])(?!Next: )", " ", text)
    if block.kind in ("puzzles", "all-puzzles"):
        text = with_puzzles(text)
        text = re.sub(r"^## (\d\d) .*$", lambda found: next(
            (f"## {title_of(page)}" for page in sorted((ROOT / "chapters").glob(f"{found[1]}_*/README.zh.md"))), found[0]), text, flags=re.M)
    for english, chinese in PHRASES:
        text = re.sub(english, chinese, text, flags=re.M)
    if block.kind == "ladder":  # punctuation of Chinese sentences
        text = re.sub(r"^(?![|<]).*$", lambda line: re.sub(r"(?<=[，。：；）]) +", "", re.sub(r"\.$", "。", line[0].replace("; ", "；"))), text, flags=re.M)
    elif block.kind not in ("puzzles", "all-puzzles"):  # below tables, one sentence in Chinese after the other
        text = re.sub(r"^(?![|<]).*$", lambda line: re.sub(r"(?<=[。：]) +", "", line[0]), text, flags=re.M)

    def head(found):
        return "|".join(f" {COLUMNS[cell.strip()]} " if cell.strip() in COLUMNS else cell for cell in found[1].split("|")) + found[2]

    return re.sub(r"^(\|.*\|)(\n\|[ :|-]+\|)$", head, text, flags=re.M)


def with_links(text, page):
    """Links to a page that has a Chinese edition lead there; its title is Chinese where the link has the English one."""
    def link(found):
        words, target, anchor = found[1], found[2], found[3] or ""
        file = (page.parent / target).resolve()
        other = chinese_of(file)
        if target.endswith(".zh.md") or not other.exists():
            return found[0]
        if words == title_of(file):
            words = title_of(other)
        return f"[{words}]({target.removesuffix('.md')}.zh.md{anchor})"

    return re.sub(r"\[([^\]\n]*)\]\(([^)#\s:]+\.md)(#[^)\s]*)?\)", link, text)


def with_emphasis(text):
    """*Words* beside Chinese ones: neither Doxygen nor the rules of Markdown see all of them as emphasis."""
    kept = re.split(r"(`+[^`]*`+|<!--.*?-->|<[^>]*>)", text, flags=re.S)
    kept[::2] = [re.sub(r"(?<![*\\])\*(?=[^\s*])([^*\n]*[^\s*])\*(?!\*)", r"<em>\1</em>", part) for part in kept[::2]]
    return "".join(kept)


def expand(page):
    english = blocks(english_of(page).read_text(encoding="utf-8"))
    text = page.read_text(encoding="utf-8")
    out, begun = [], False
    for piece in pieces(text[text.index("\n# ") + 1:] if "\n# " in text else text):
        if isinstance(piece, Block):
            out.append(piece.text + "\n")
            continue
        prose = []
        for line in piece.split("\n"):
            asked = PLACEHOLDER.match(line)
            if not asked:
                prose.append(line)
                continue
            found = named(asked[1], english)
            if len(found) != 1:
                sys.exit(f"{page}: `{asked[1]}` names {len(found)} blocks of {english_of(page).name}")
            out.append(with_emphasis("\n".join(prose) + "\n"))
            out.append(translated(found[0]) + "\n")
            prose = []
        out.append(with_emphasis("\n".join(prose)))
    text = with_links("".join(out), page.resolve())
    # Doxygen takes an anchor's name once, and the English page has it.
    text = re.sub(r'^<a id="([^"]+)"></a>$', r'\\htmlonly[block]<a class="anchor" id="\1"></a>\\endhtmlonly', text, flags=re.M)
    return re.sub(r'<a id="([^"]+)"></a>', r'\\htmlonly<a class="anchor" id="\1"></a>\\endhtmlonly ', text)


def begin(page):
    text = page.read_text(encoding="utf-8")
    parts = pieces(text)
    shared = [piece for piece in parts if isinstance(piece, Block)]
    out = [f"[English]({page.name}) · 中文\n\n<!-- english: {hash_of(text)} -->\n\n"]
    for piece in parts:
        out.append(piece if isinstance(piece, str) else f"<!-- same: {name_of(piece, shared)} -->\n")
    return "".join(out).rstrip("\n") + "\n"


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "expand":
        sys.stdout.write(expand(Path(sys.argv[2])))
        return 0
    if len(sys.argv) == 3 and sys.argv[1] == "begin":
        page = Path(sys.argv[2])
        if not page.suffix and (ROOT / "tests" / page.name / "puzzles").is_dir():
            file, text = puzzle_file(page.name), puzzles_as_begun(page.name)
        elif page.suffix == ".md" and page.is_file():
            file, text = chinese_of(page), begin(page)
        else:
            print(f"chinese.py: {page} is no page, and no chapter with puzzles", file=sys.stderr)
            return 2
        if file.exists():
            print(f"chinese.py: {file} is there already", file=sys.stderr)
            return 2
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        print(file)
        return 0
    print("usage: chinese.py expand PAGE.zh.md | begin PAGE.md | begin CHAPTER", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
