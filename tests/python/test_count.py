"""tilewise.count(): counts, findings, arguments, and kernels that never end or die."""
import array
import os
import re
import xml.dom.minidom
from pathlib import Path

import numpy as np
import pytest

import tilewise

ROOT = Path(__file__).resolve().parents[2]
STRIDED = """__global__ void strided(const float* x, float* y, int stride, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i * stride];
}"""
SCALE = "__global__ void scale(float* x, float by, int n) { const int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= by; }"


def strided(stride, n=32, **options):
    x, y = np.arange(max(1, n * stride), dtype=np.float32), np.full(n, -1, dtype=np.float32)
    report = tilewise.count(STRIDED, grid=max(1, -(-n // 128)), block=min(128, max(32, n)), args=[x, y, stride, n], **options)
    assert np.array_equal(y, x[: n * stride : stride][:n])
    return report


def lesson_05():
    """The page's table: stride and sectors per request."""
    page = (ROOT / "chapters/05_coalescing/README.md").read_text()
    rows = re.findall(r"^\| `strided_read<float>` \| (\d+) \| [\d,]+ \| ([\d.]+) \|", page, re.M)
    return sorted({(int(s), float(n)) for s, n in rows})


@pytest.mark.parametrize("stride, sectors", lesson_05())
def test_strides_are_those_of_lesson_05(stride, sectors):
    report = strided(stride)
    assert report.sectors_per_load_request == sectors
    assert report.global_load_requests == 1 and report.global_load_sectors == sectors and report.global_store_sectors == 4
    assert report.findings == [] and report.finished


def test_lesson_05_has_its_table():
    assert len(lesson_05()) == 7


@pytest.mark.parametrize("kernel, of_a, of_b, of_c", [("naive_matmul", 1, 4, 4), ("naive_matmul_row_on_x", 32, 1, 32)])
def test_lesson_01_coalesced_or_not(kernel, of_a, of_b, of_c):
    n, random = 64, np.random.default_rng(1)
    a, b = (random.standard_normal((n, n)).astype(np.float32) for _ in range(2))
    c = np.full((n, n), np.nan, dtype=np.float32)
    source = (ROOT / "chapters/01_naive_matmul/naive_matmul.cuh").read_text()
    report = tilewise.count(source, kernel=kernel, grid=(2, 2), block=(32, 32), args=[a, b, c, n, n, n])
    np.testing.assert_allclose(c, a.astype(float) @ b, rtol=1e-4, atol=1e-4)
    warps = n * n // 32
    assert report.global_load_requests == 2 * n * warps
    assert report.global_load_sectors == n * warps * (of_a + of_b)
    assert report.global_store_sectors == warps * of_c
    assert report.flop_single == 2 * n**3 and report.flop_double == 0


@pytest.mark.parametrize("columns, wavefronts", [(32, 32), (33, 1)])
def test_bank_conflicts(columns, wavefronts):
    source = f"""__global__ void k(float* y) {{
      __shared__ float s[32][{columns}];
      s[threadIdx.x][0] = 1;
      __syncthreads();
      y[threadIdx.x] = s[threadIdx.x][0];
    }}"""
    report = tilewise.count(source, grid=1, block=32, args=[np.zeros(32, np.float32)])
    assert report.shared_load_wavefronts == wavefronts and report.shared_load_bank_conflicts == wavefronts - 1
    assert [row.per_request for row in report.at(5) if row.memory == "shared"] == [wavefronts]
    assert len({line.split('x2="')[1].split('"')[0] for line in report.plot_banks(5).svg.splitlines() if "<line" in line}) == (1 if columns == 32 else 32)


@pytest.mark.parametrize("n", [0, 1, 31, 33, 127, 1000])
def test_ragged_sizes(n):
    assert strided(1, n).findings == []


def test_nan_and_infinity_come_back():
    x = np.array([np.nan, np.inf, -np.inf, -0.0], dtype=np.float32)
    tilewise.count(SCALE, grid=1, block=32, args=[x, 1.0, 4])
    assert np.isnan(x[0]) and x[1] == np.inf and x[2] == -np.inf and np.signbit(x[3])


def test_const_arrays_may_be_read_only_and_others_not():
    x, y = np.arange(32, dtype=np.float32), np.zeros(32, dtype=np.float32)
    x.flags.writeable = False
    tilewise.count(STRIDED, grid=1, block=32, args={"y": y, "x": x, "n": np.int64(32), "stride": 1})
    assert np.array_equal(x, y)
    with pytest.raises(ValueError, match="^x: the array is read-only"):
        tilewise.count(SCALE, grid=1, block=32, args=[x, 1.0, 32])


def test_buffers_and_dlpack():
    class OnlyDlpack:
        def __init__(self, a):
            self.a = a

        def __dlpack__(self, **options):
            return self.a.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.a.__dlpack_device__()

    class OnGpu(OnlyDlpack):
        def __dlpack_device__(self):
            return (2, 0)

    x, y = np.arange(32, dtype=np.float32), array.array("f", [0] * 32)
    tilewise.count(STRIDED, grid=1, block=32, args=[OnlyDlpack(x), y, 1, 32])
    assert list(y) == list(range(32))
    with pytest.raises(ValueError, match="^x: the array is on another device"):
        tilewise.count(STRIDED, grid=1, block=32, args=[OnGpu(x), y, 1, 32])


def test_one_array_twice_and_overlapping_ones():
    x = np.arange(33, dtype=np.float32)
    source = "__global__ void add(const float* a, float* b) { b[threadIdx.x] += a[threadIdx.x]; }"
    whole = x[:32]
    tilewise.count(source, grid=1, block=32, args=[whole, whole])
    assert np.array_equal(x, [2 * i for i in range(32)] + [32])
    with pytest.raises(ValueError, match="^b: the array overlaps a's"):
        tilewise.count(source, grid=1, block=32, args=[x[:32], x[1:]])


@pytest.mark.parametrize("args, error, text", [
    ([np.zeros(4), 1.0, 4], TypeError, "^x: .*`float\\* x` takes an array of float32, not an array of float64$"),
    ([np.zeros(4, ">f4"), 1.0, 4], TypeError, "^x: "),
    ([3.0, 1.0, 4], TypeError, "^x: .* not float$"),
    (["text", 1.0, 4], TypeError, "^x: .* not str$"),
    ([np.zeros(4, "f4"), "1", 4], TypeError, "^by: .*takes a number \\(float32\\), not str$"),
    ([np.zeros(4, "f4"), 1e39, 4], OverflowError, "^by: "),
    ([np.zeros(4, "f4"), 1.0, 4.0], TypeError, "^n: .*takes an integer \\(int32\\), not float$"),
    ([np.zeros(4, "f4"), 1.0, np.float32(4)], TypeError, "^n: .*not numpy.float32$"),
    ([np.zeros(4, "f4"), 1.0, 2**31], OverflowError, "^n: 2147483648 doesn't fit int32"),
    ([np.zeros(8, "f4")[::2], 1.0, 4], ValueError, "^x: the array has to be C-contiguous"),
    ([np.zeros(4, "f4"), 1.0], TypeError, "takes 3 arguments \\(x, by, n\\), and 2 were given"),
    ({"x": np.zeros(4, "f4"), "by": 1.0, "m": 4}, TypeError, "too many or missing: m, n"),
])
def test_arguments_that_do_not_fit(args, error, text):
    with pytest.raises(error, match=text):
        tilewise.count(SCALE, grid=1, block=32, args=args)


def test_vectors_structs_and_templates():
    source = """struct Pair { int a; float b; };
    template <class T> __global__ void fill(T* out, float4 v, Pair p) { out[threadIdx.x] = T(v.x + v.w + p.a + p.b); }"""
    pair = np.zeros((), dtype=[("a", "i4"), ("b", "f4")])
    pair["a"], pair["b"] = 3, 0.5
    for kernel, dtype in (("fill<double>", np.float64), ("fill<int>", np.int32)):
        out = np.zeros(32, dtype)
        tilewise.count(source, kernel=kernel, grid=1, block=32, args=[out, (1, 2, 3, 4), pair])
        assert np.all(out == dtype(8.5))
    with pytest.raises(ValueError, match="is a template"):
        tilewise.count(source, grid=1, block=32, args=[])


def test_which_kernel():
    with pytest.raises(ValueError, match="no __global__ function"):
        tilewise.count("int x;", grid=1, block=1)
    with pytest.raises(ValueError, match="say which: a, b"):
        tilewise.count("__global__ void a() {}\n__global__ void b() {}", grid=1, block=1)
    with pytest.raises(ValueError, match="no kernel 'c'; it has a"):
        tilewise.count("__global__ void a() {}", kernel="c", grid=1, block=1)


def test_compile_errors_name_the_line():
    with pytest.raises(tilewise.CompileError, match=r"kernel\.cu:2: error: .*banana"):
        tilewise.count("__global__ void k(int* x) {\n  banana = 1;\n}", grid=1, block=1, args=[None])
    with pytest.raises(tilewise.CompileError, match=r"kernel\.cu:2: error: the simulator does not support"):
        tilewise.count('__global__ void k(int* x) {\n  asm("banana;");\n}', grid=1, block=1, args=[None])
    with pytest.raises(tilewise.CompileError, match=r"kernel\.cu:"):
        tilewise.count("__global__ void k(int* x) {\n", grid=1, block=1, args=[None])


def test_out_of_bounds_is_found():
    x = np.zeros(32, np.float32)
    report = tilewise.count("__global__ void k(float* x) {\n  x[threadIdx.x + 1] = 1;\n}", grid=1, block=32, args=[x])
    assert [(f.kind, f.line) for f in report.findings] == [("out-of-bounds", 2)]
    assert "array 'x', past its end" in report.findings[0].text


def test_a_race_is_found_and_a_barrier_cures_it():
    source = """__global__ void reverse(int* x) {
      __shared__ int s[64];
      s[threadIdx.x] = x[threadIdx.x];
      BARRIER
      x[threadIdx.x] = s[63 - threadIdx.x];
    }"""
    x = np.arange(64, dtype=np.int32)
    assert "race-shared" in {f.kind for f in tilewise.count(source.replace("BARRIER", ""), grid=1, block=64, args=[x.copy()]).findings}
    with pytest.raises(tilewise.FindingError, match="race-shared") as caught:
        tilewise.count(source.replace("BARRIER", ""), grid=1, block=64, args=[x.copy()], check=True)
    assert caught.value.report.findings
    assert tilewise.count(source.replace("BARRIER", "__syncthreads();"), grid=1, block=64, args=[x], check=True).findings == []
    assert np.array_equal(x, np.arange(64)[::-1])


def test_a_kernel_that_dies_leaves_python_and_the_arrays_alone():
    x = np.zeros(32, np.int32)
    report = tilewise.count("__global__ void k(int* x) { x[threadIdx.x] = 1; *(int*)0 = 1; }", grid=1, block=32, args=[x])
    assert not report.finished and report.findings[0].kind == "null-pointer" and not x.any()


def test_an_endless_kernel_ends():
    x = np.zeros(1, np.int32)
    with pytest.raises(tilewise.KernelTimeoutError, match="longer than 1 s.*kernel.cu:2") as caught:
        tilewise.count("__global__ void k(int* x) {\n  while (true) x[0] += 1;\n}", grid=1, block=32, args=[x], timeout=1)
    assert isinstance(caught.value, TimeoutError) and x[0] == 0
    # The simulator is at work nearly always, and the kernel itself nearly never.
    assert float(re.search(r"in ([\d.]+) s of processor time", str(caught.value)).group(1)) < 3


def test_launches_that_cuda_refuses():
    with pytest.raises(tilewise.LaunchError) as caught:
        tilewise.count(SCALE, grid=1, block=2048, args=[np.zeros(1, np.float32), 1.0, 1])
    assert caught.value.code.startswith("cudaErrorInvalid")
    for wrong in ({"grid": 0}, {"block": (1, -1)}, {"shared": -1}, {"timeout": 0}, {"device": "vax"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            tilewise.count(SCALE, **{"grid": 1, "block": 1, "args": [None, 1.0, 0], **wrong})


def test_much_dynamic_shared_memory():
    source = "__global__ void k(int* x, int n) { extern __shared__ int s[]; s[n] = 7; *x = s[n]; }"
    x = np.zeros(1, np.int32)
    tilewise.count(source, grid=1, block=1, shared=100_000, args=[x, 24_999], check=True)
    assert x[0] == 7


def test_without_a_compiler(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("TILEWISE_CXX", raising=False)
    with pytest.raises(tilewise.CompilerNotFoundError, match="apt-get install g\\+\\+"):
        strided(1)


def test_headers_of_ones_own(tmp_path):
    header, source = tmp_path / "value.h", '#include "value.h"\n__global__ void k(int* x) { *x = VALUE; }'
    x = np.zeros(1, np.int32)
    for value in (3, 12345):  # the second one isn't the first one's program
        header.write_text(f"#define VALUE {value}\n")
        tilewise.count(source, grid=1, block=1, args=[x], include=[str(tmp_path)])
        assert x[0] == value


def test_a_cache_that_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TILEWISE_CACHE", os.fspath(tmp_path / "file" / "folder"))
    monkeypatch.setattr("tilewise.compiler._unshared", [])
    assert strided(2).global_load_sectors == 8


def test_what_a_report_shows():
    report = strided(8)
    text = str(report)
    assert "32.00 sectors" in text and "y[i] = x[i * stride];" in text and repr(report) == text
    assert "<table>" in report._repr_html_() and "&lt;" in report._repr_html_()
    assert report.to_dict()["counters"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 32
    assert report.occupancy.warps_per_sm > 0 and report.bound["seconds"] > 0
    for stride, sectors in ((1, 4), (2, 8), (32, 32)):
        picture = strided(stride).plot_sectors(3, "load")
        assert f"{sectors} sectors of 32 bytes" in picture.svg and picture._repr_svg_() == picture.svg
        assert len(xml.dom.minidom.parseString(picture.svg).getElementsByTagName("line")) == 32
    with pytest.raises(ValueError, match="line 1"):
        report.plot_sectors(1)


@pytest.mark.parametrize("wrong", ["x[i * stride + 1]", "x[i]", "2 * x[i * stride]"])
def test_wrong_kernels_are_seen(wrong):
    x, y = np.arange(256, dtype=np.float32), np.full(32, -1, dtype=np.float32)
    tilewise.count(STRIDED.replace("x[i * stride]", wrong), grid=1, block=32, args=[x, y, 2, 32])
    assert not np.array_equal(y, x[:64:2])


def test_what_a_kernel_prints():
    assert tilewise.count('__global__ void k() { printf("%d\\n", 7); }', grid=1, block=1).output == "7\n"
