import numpy as np
import tilewise

SOURCE = """
__global__ void copy_every(const float* in, float* out, int stride, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i * stride];
}
"""
n = 1024
for stride in (1, 2, 32):
    numbers, copied = np.arange(n * stride, dtype=np.float32), np.zeros(n, dtype=np.float32)
    report = tilewise.count(SOURCE, grid=n // 256, block=256, args=[numbers, copied, stride, n])
    assert (copied == numbers[::stride]).all()
    print(f"stride {stride:2}: {report.sectors_per_load_request:5.2f} sectors per request of loads")
print(report)
