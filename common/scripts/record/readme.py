"""What the README shows: a few rows of several lessons as a table, and the matrix products among them as a picture."""
from columns import blocks, table
from page_tables import naming, rate
from records import of_parts, recorded_run

# Of the README's table: program, kernel, tile, shape, and what the row shows.
SUMMARY = [
    ("01_naive_matmul", "naive_matmul_row_on_x", 32, "4096 x 4096 x 4096", "threadIdx.x counts rows"),
    ("01_naive_matmul", "naive_matmul_row_on_x", 32, "4096 x 4096 x 4097", "the same, K = 4097 instead of 4096"),
    ("01_naive_matmul", "naive_matmul", 32, "4096 x 4096 x 4096", "threadIdx.x counts columns"),
    ("02_tiled_matmul", "tiled_matmul", 32, "4096 x 4096 x 4096", "tiles in shared memory"),
    ("02_tiled_matmul", "tiled_matmul_rectangular<64,64,16>", None, "4096 x 4096 x 4096", "16 elements per thread"),
    ("09_register_tiles", "register_tiles<128,128,16,8,8>", None, "4096 x 4096 x 4096", "64 elements per thread, in registers"),
    ("10_wide_loads", "wide_loads<64,128,16,8,8>", None, "4096 x 4096 x 4096", "16 bytes per load"),
    ("11_async_copies", "async_tiles<128,128,32,8,8,3>", None, "4096 x 4096 x 4096", "asynchronous copies, three stages"),
    ("12_past_cublas", "past_cublas<128,128,16,16,8,2,2,3,8>", None, "4096 x 4096 x 4096", "warp tiles, work shared out at the end"),
    ("07_cublas_sgemm", "CUBLAS_DEFAULT_MATH", None, "4096 x 4096 x 4096", "cuBLAS, FP32"),
    ("13_tensor_cores", "wgmma_3xtf32<4, 8>", None, "4096 x 4096 x 4096", "the same floats on tensor cores, in three products"),
    ("13_tensor_cores", "wgmma_persistent<4, 16>", None, "4096 x 4096 x 4096", "16-bit numbers on tensor cores"),
    ("04_transpose", "cudaMemcpyAsync", None, "16384 x 16384", "a copy, by the driver"),
    ("04_transpose", "transpose_strided_write", None, "16384 x 16384", "a transpose, strided writes"),
    ("04_transpose", "transpose_tile", 32, "16384 x 16384", "through a tile, with bank conflicts"),
    ("04_transpose", "transpose_padded", 32, "16384 x 16384", "without"),
    ("04_transpose", "transpose_vectorised", 64, "16384 x 16384", "16 bytes at a time, both ways"),
    ("04_transpose", "cublasSgeam", None, "16384 x 16384", "a library's transpose"),
    ("04_transpose", "copy_evict_last", None, "16384 x 16384", "a copy whose loads say evict_last"),
    ("04_transpose", "transpose_vectorised<evict_last>", 64, "16384 x 16384", "a transpose with the same hint"),
]


def rows_of(gpu):
    """(program, what the row shows, the row) of each row of SUMMARY that was recorded."""
    for program, kernel, tile, shape, what in SUMMARY:
        rows = of_parts(recorded_run(gpu, program), [])
        rows = [row for row in rows if (row["kernel"], row.get("tile"), row.get("shape")) == (kernel, tile, shape)]
        yield from ((program, what, row) for row in rows[:1])


def summary_table(gpu):
    rows = [{**row, "what": what} for _, what, row in rows_of(gpu)]
    if not rows:
        return ""
    source = f"Medians; [docs/results/{gpu}.json](docs/results/{gpu}.json) has all rows, and says when and from which commit."
    return blocks(table(naming("what kernel tile shape", rows) + ["time", ("rate", rate)], rows), source)


LADDER_STYLE = """<style>
    .page { fill: #fdfdfb; stroke: #c9c9c4 }
    .bar { fill: #2f7fd1 } .library { fill: #8b98a5 } .line { stroke: #57606a; stroke-width: 1.2; stroke-dasharray: 4 4 }
    text { fill: #1f2328; font: 14px system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif }
    .small { font-size: 12px } .title { font-weight: 600 } .end { text-anchor: end } .mid { text-anchor: middle }
    @media (prefers-color-scheme: dark) {
      .page { fill: #1b1f24; stroke: #444c56 }
      .bar { fill: #4b9bea } .library { fill: #6e7781 } .line { stroke: #adbac7 }
      text { fill: #e6edf3 }
    }
  </style>"""


def ladder(gpu):
    """The matrix products of SUMMARY as bars. Returns the picture's text and the words for who cannot see it."""
    bars = [(f"{program[:2]}  {what}", row["figure"]["value"], row["shape"], "cublas" in program) for program, what, row in rows_of(gpu)
            if row["figure"]["unit"] == "GFLOP/s"
            and not program.startswith("13")]  # tensor cores: the bars of FP32 units would be too short to read
    machine = recorded_run(gpu, SUMMARY[0][0])["machine"]
    name, peak = machine["name"], machine["peak_fp32_gflops"]
    ways = "no one two three four five six seven eight nine ten eleven twelve".split()[len(bars)]
    left, right, top, step = 350, 700, 72, 30  # labels of 14 pixels fit in any usual font
    height = top + step * len(bars) + 46
    x = lambda value: left + (right - left) * value / peak
    words = f"GFLOP/s of matrix products on an {name}: " + "; ".join(f"{label[4:]}, {value:,.0f}" for label, value, *_ in bars)
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 760 {height}" width="760" height="{height}" role="img" '
           'aria-labelledby="t">', f'  <title id="t">{words}.</title>', "  " + LADDER_STYLE,
           f'  <rect class="page" x="0.5" y="0.5" width="759" height="{height - 1}" rx="10"/>',
           f'  <text x="24" y="32" class="title">One matrix product in {ways} ways: {bars[0][2].replace(" x ", " × ")} floats on an '
           f'{name}, GFLOP/s</text>']
    for k, (label, value, _, library) in enumerate(bars):
        y = top + step * k
        svg += [f'  <text x="24" y="{y + 15}">{label}</text>',
                f'  <rect class="{"library" if library else "bar"}" x="{left}" y="{y}" width="{x(value) - left:.1f}" height="20" rx="3"/>',
                f'  <text x="{x(value) + 8:.1f}" y="{y + 15}" class="small">{value:,.0f}</text>']
    end = top + step * len(bars)
    svg += [f'  <line class="line" x1="{right}" y1="{top - 12}" x2="{right}" y2="{end}"/>',
            f'  <text x="{right}" y="{end + 18}" class="small mid">peak {peak:,.0f}</text>',
            f'  <text x="24" y="{end + 18}" class="small">The number in front is the chapter.</text>', "</svg>", ""]
    return "\n".join(svg), words
