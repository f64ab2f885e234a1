"""Tables of what Nsight Compute counted, and of what nvcc made of inner loops: docs/results/KIND-<gpu>.json."""
import re

import columns
from records import chosen, record, recorded

KERNEL = ("kernel", lambda c: f"`{c['kernel']}`")
SIZE = ("size", lambda c: c["shape"].split(" ")[0])
LOAD, LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"
TIME = "gpu__time_duration.sum"


def counter_table(kind, gpu, entries, source, rows=list):
    """Nothing without the record. `rows` takes those that are wanted; a row has its counters beside what else it says."""
    if not recorded(f"{kind}-{gpu}"):
        return ""
    run = record(f"{kind}-{gpu}")
    wanted = rows([{**row, **row["counters"]} for row in run["rows"]])
    return columns.blocks(columns.table([(title, or_blank(fill)) for title, fill in entries], wanted), source.format(**run))


def or_blank(fill):
    def cell(c):
        try:
            return fill(c)
        except KeyError:  # a counter that this GPU does not have
            return ""
    return cell


def dram_table(gpu, kernels):
    """What L1 asked for and what DRAM moved, for each word that was wanted; from record-dram.sh."""
    l1 = "l1tex__t_{}_pipe_lsu_mem_global_op_{}.sum"
    sectors = lambda kind: lambda c: f"{c[l1.format('sectors', kind)] / c[l1.format('requests', kind)]:.2f}"
    moved = lambda way: lambda c: f"{c[f'dram__bytes_{way}.sum'] / c['words']:.1f}"
    return counter_table("dram", gpu, [
        KERNEL, ("", lambda c: c["what"]), ("sectors per load", sectors("ld")), ("sectors per store", sectors("st")),
        ("bytes from DRAM per word", moved("read")), ("bytes to DRAM per word", moved("write")),
    ], "{gpu}, CUDA {cuda}, driver {driver}; commit {commit}. Nsight Compute, caches empty.",
        lambda rows: [c for c in rows if c["kernel"].split("<")[0] in kernels.split()])


def spmv_table(gpu):
    """What L1 asked L2 for, and how busy L2 and DRAM were; from record-spmv.sh."""
    return counter_table("spmv", gpu, [
        ("matrix", lambda c: c["matrix"]), KERNEL,
        ("L1 hits", lambda c: f"{100 * c[f'{LOAD}_lookup_hit.sum'] / c[f'{LOAD}.sum']:.0f}%"),
        ("requests to L2, millions", lambda c: f"{1e-6 * c['lts__t_requests_srcunit_tex.sum']:.1f}"),
        ("of L2's lookups", lambda c: f"{c['lts__t_tag_requests.avg.pct_of_peak_sustained_elapsed']:.0f}%"),
        ("of DRAM", lambda c: f"{c['dram__throughput.avg.pct_of_peak_sustained_elapsed']:.0f}%"),
        ("ms", lambda c: f"{1e-6 * c[TIME]:.3f}"),
    ], "{gpu}, CUDA {cuda}, driver {driver}; commit {commit}. Nsight Compute, caches empty. "
        "Kernels that take more than ten times as long as the best are left out.",
        lambda rows: [c for c in rows if c[TIME] <= 10 * min(other[TIME] for other in rows if other["matrix"] == c["matrix"])])


def loops_table(gpu, program):
    """What nvcc made of a lesson's inner loops; from record-loops.py. With WMMA, LDSM loads pieces of fragments from shared memory,
    LD is an ordinary load."""
    count = lambda *names: lambda c: f"{sum(c[name] for name in names):,}"
    of_program = lambda rows: [row for row in rows if row["program"] == program]
    if recorded(f"loops-{gpu}") and all("FFMA" in row["counters"] for row in of_program(record(f"loops-{gpu}")["rows"])):
        work = [("multiply-adds", count("FFMA")), ("of all", lambda c: f"{100 * c['FFMA'] / c['instructions']:.1f} %"),
                ("loads from shared memory", count("LDS"))]
    else:
        work = [("HMMA", count("HMMA")), ("LDSM", count("LDSM")), ("LD, LDS", count("LD", "LDS"))]
    return counter_table("loops", gpu, [
        KERNEL, ("instructions", count("instructions")), *work, ("registers", lambda c: str(c["registers"])),
    ], "Inner loops in machine code for sm_90a, by nvcc {nvcc}.", of_program)


STALLS = {"not chosen": ["not_selected"], "copies and loads": ["long_scoreboard", "lg_throttle"],
          "shared memory": ["short_scoreboard", "mio_throttle"], "barrier": ["barrier"],
          "dispatch": ["dispatch_stall", "math_pipe_throttle", "wait"], "no instruction": ["no_instruction"]}


def stalls_table(gpu, program):
    """What warps wait for; from record-stalls.sh. Kernels of less than a tenth of the longest's time are left out."""
    def wanted(rows):
        rows = [c for c in rows if c["program"] == program]
        return [c for c in rows if 10 * c[TIME] > max(other[TIME] for other in rows)]

    waits = lambda names: lambda c: f"{sum(c[f'stalled {name}'] for name in names):.2f}"
    return counter_table("stalls", gpu, [
        SIZE, ("kernel", lambda c: "cuBLAS" if "gemm" in c["kernel"] else f"`{c['kernel']}`"), ("ms", lambda c: f"{1e-6 * c[TIME]:.2f}"),
        ("clocks that issue", lambda c: f"{c['smsp__issue_active.avg.pct_of_peak_sustained_active']:.0f} %"),
        *((what, waits(names)) for what, names in STALLS.items()),
        ("read from DRAM", lambda c: f"{1e-9 * c['dram__bytes_read.sum']:.2f} GB"),
    ], "{gpu}, driver {driver}, Nsight Compute. Waits: warps for each instruction issued.", wanted)


def tensor_table(gpu):
    """How busy the tensor cores are, and at which clock; from record-tensor.py."""
    return counter_table("tensor", gpu, [
        ("", lambda c: c["part"]), SIZE,
        ("kernel", lambda c: f"`{c['kernel']}`" if re.search("wmma|wgmma", c["kernel"]) else "the library's"),
        ("ms", lambda c: f"{1e-6 * c['ns']:.3g}"),
        ("clock", lambda c: f"{1e3 * c['cycles'] / c['ns']:,.0f} MHz"),
        ("tensor cores busy", lambda c: f"{c['tensor cores, %']:.0f} %"),
        ("from L2 to the SMs", lambda c: f"{c['L2 to SM bytes'] / c['ns'] / 1e3:.1f} TB/s"),
        ("read from DRAM", lambda c: f"{1e-9 * c['DRAM bytes read']:.2f} GB"),
    ], "{gpu}, driver {driver}, commit {commit}, Nsight Compute.")


def traffic_table(gpu, filters):
    """What L1, L2 and DRAM moved; from record-traffic.sh."""
    return counter_table("traffic", gpu, [
        ("M = N", lambda c: f"{c['n']:,}"), ("K", lambda c: f"{c['k']:,}"), ("block", lambda c: str(c["block"])), KERNEL,
        ("L1 requests", lambda c: f"{c[LOADS]:,}"),
        ("L1 sectors", lambda c: f"{c[f'{LOAD}.sum']:,}"),
        ("found in L1", lambda c: f"{100 * c[f'{LOAD}_lookup_hit.sum'] / c[f'{LOAD}.sum']:.1f} %"),
        ("tag passes per request", lambda c: f"{c['l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum'] / c[LOADS]:.2f}"),
        ("data passes per request", lambda c: f"{1 + c['l1tex__data_bank_conflicts_pipe_lsu.sum'] / c[LOADS]:.2f}"),
        ("from L2, MB", lambda c: f"{32e-6 * c['lts__t_sectors_srcunit_tex_op_read.sum']:,.2f}"),
        ("from DRAM, MB", lambda c: f"{1e-6 * c['dram__bytes_read.sum']:,.2f}"),
        ("time, ms", lambda c: f"{1e-6 * c[TIME]:.3g}"),
    ], "{gpu}, driver {driver}, CUDA {cuda}, commit {commit}; Nsight Compute, caches emptied before each kernel. 1 MB is 1,000,000 bytes.",
        lambda rows: chosen(rows, filters.split()))
