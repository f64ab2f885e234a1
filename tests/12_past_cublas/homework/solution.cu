// The homework of chapter 12, solved.
#include "homework.cuh"

constexpr int TILE = 32, ROWS = 8;  // blocks of 32 x 8 threads, four elements of a tile of 32 x 32 for each thread

// ---------------------------------------------------------------------------------------------- 1. warm-up
// S = A A^T. Only the tiles on the diagonal and below are computed; what lies above is the same mirrored.

// Which tile of S does this block compute? Numbers go row by row, and row r has the tiles in columns 0 to r:
//   0
//   1 2
//   3 4 5 ...
__device__ void find_tile(int block, int& tile_row, int& tile_col) {
  tile_row = tile_col = 0;
  // Row r begins with number r (r + 1) / 2. The root is rounded, and so may be off by one.
  tile_row = int((sqrtf(8.0f * block + 1.0f) - 1.0f) / 2.0f);
  while (tile_row * (tile_row + 1) / 2 > block) --tile_row;
  while ((tile_row + 1) * (tile_row + 2) / 2 <= block) ++tile_row;
  tile_col = block - tile_row * (tile_row + 1) / 2;
}

__global__ void similarities(const float* A, float* S, int N, int K) {
  __shared__ float Is[TILE][TILE + 1];  // Is[i][k] = A[row0 + i][k0 + k]
  __shared__ float Js[TILE][TILE + 1];  // Js[j][k] = A[col0 + j][k0 + k]
  int tile_row, tile_col;
  find_tile(blockIdx.x, tile_row, tile_col);
  const int tx = threadIdx.x, ty = threadIdx.y, row0 = tile_row * TILE, col0 = tile_col * TILE;
  float sum[TILE / ROWS] = {};  // of the elements in column tx and rows ty, ty + 8, ty + 16 and ty + 24 of the tile
  for (int k0 = 0; k0 < K; k0 += TILE) {
    for (int i = ty; i < TILE; i += ROWS) {
      Is[i][tx] = row0 + i < N && k0 + tx < K ? A[size_t(row0 + i) * K + k0 + tx] : 0.0f;
      Js[i][tx] = col0 + i < N && k0 + tx < K ? A[size_t(col0 + i) * K + k0 + tx] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      for (int e = 0; e < TILE / ROWS; ++e) sum[e] += Is[ty + ROWS * e][k] * Js[tx][k];
    __syncthreads();
  }
  for (int e = 0; e < TILE / ROWS; ++e) {
    const int row = row0 + ty + ROWS * e, col = col0 + tx;
    if (row < N && col < N) S[size_t(row) * N + col] = sum[e];
  }
  if (tile_row == tile_col) return;
  // A warp has a row of the tile, which is a column of the mirrored one: through shared memory it becomes a row there, too.
  for (int e = 0; e < TILE / ROWS; ++e) Is[ty + ROWS * e][tx] = sum[e];
  __syncthreads();
  for (int j = ty; j < TILE; j += ROWS)
    if (col0 + j < N && row0 + tx < N) S[size_t(col0 + j) * N + row0 + tx] = Is[tx][j];
}

cudaError_t launch_similarities(const float* A, float* S, int N, int K, cudaStream_t stream) {
  const int tiles = (N + TILE - 1) / TILE;
  const int blocks = tiles * (tiles + 1) / 2;
  similarities<<<blocks, dim3(TILE, ROWS), 0, stream>>>(A, S, N, K);
  return cudaGetLastError();
}

// ---------------------------------------------------------------------------------------------- 2. core
// Y = max(0, X W + bias), where K is cut into slices that different blocks sum.

// Grid: x covers the columns of Y, y its rows, z the slices.
__global__ void sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                             float* parts, int* arrived) {
  __shared__ float Xs[TILE][TILE];
  __shared__ float Ws[TILE][TILE];
  __shared__ bool last;
  const int tx = threadIdx.x, ty = threadIdx.y, row0 = blockIdx.y * TILE, col = blockIdx.x * TILE + tx;
  const int slice = blockIdx.z, slices = gridDim.z;
  const int begin = int((long long)K * slice / slices), end = int((long long)K * (slice + 1) / slices);
  float sum[TILE / ROWS] = {};
  for (int k0 = begin; k0 < end; k0 += TILE) {
    const int left = end - k0;  // a slice may end within a tile
    for (int i = ty; i < TILE; i += ROWS) {
      Xs[i][tx] = row0 + i < M && tx < left ? X[size_t(row0 + i) * K + k0 + tx] : 0.0f;
      Ws[i][tx] = i < left && col < N ? W[size_t(k0 + i) * N + col] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < TILE; ++k)
      for (int e = 0; e < TILE / ROWS; ++e) sum[e] += Xs[ty + ROWS * e][k] * Ws[k][tx];
    __syncthreads();
  }

  const size_t size = size_t(M) * N;  // of a part
  for (int e = 0; e < TILE / ROWS; ++e) {
    const int row = row0 + ty + ROWS * e;
    if (row < M && col < N) parts[slice * size + size_t(row) * N + col] = sum[e];
  }
  __syncthreads();  // all threads' words are stored
  if (tx == 0 && ty == 0) {
    int* counter = &arrived[blockIdx.y * gridDim.x + blockIdx.x];
    __threadfence();  // all blocks see them before they see that this block has come
    last = atomicAdd(counter, 1) == slices - 1;
    __threadfence();         // what follows sees what others have stored before they came
    if (last) *counter = 0;  // no other block comes any more
  }
  __syncthreads();
  if (!last) return;

  // All slices in their order, this block's own among them: which one comes last changes nothing.
  for (int e = 0; e < TILE / ROWS; ++e) {
    const int row = row0 + ty + ROWS * e;
    if (row >= M || col >= N) continue;
    float all = 0.0f;
    for (int s = 0; s < slices; ++s) all += __ldcg(&parts[s * size + size_t(row) * N + col]);
    Y[size_t(row) * N + col] = fmaxf(all + bias[col], 0.0f);
  }
}

cudaError_t launch_sliced_layer(const float* X, const float* W, const float* bias, float* Y, int M, int N, int K,
                                int slices, float* parts, int* arrived, cudaStream_t stream) {
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE, slices);
  sliced_layer<<<blocks, dim3(TILE, ROWS), 0, stream>>>(X, W, bias, Y, M, N, K, parts, arrived);
  return cudaGetLastError();
}
