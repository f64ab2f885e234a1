import numpy as np
import tilewise

SOURCE = """
__global__ void add_next(float* a) {
  __shared__ float s[256];
  s[threadIdx.x] = a[threadIdx.x];
  a[threadIdx.x] = s[threadIdx.x] + s[(threadIdx.x + 1) % 256];
}
"""
report = tilewise.count(SOURCE, grid=1, block=256, args=[np.ones(256, dtype=np.float32)])
for finding in report.findings:
    print(finding)
