// Two layers of a network, there and back, by cublasLtMatmul: bias and GELU are parts of the products. A loop on the host does the same.
#include <cublasLt.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int wrong = 0;
static void check(cublasStatus_t status) { wrong += status != CUBLAS_STATUS_SUCCESS; }

static float* on_device(const std::vector<float>& v) {
  float* p;
  cudaMalloc(&p, v.size() * sizeof(float));
  cudaMemcpy(p, v.data(), v.size() * sizeof(float), cudaMemcpyHostToDevice);
  return p;
}
static std::vector<float> to_host(const float* p, size_t n) {
  std::vector<float> v(n);
  cudaMemcpy(v.data(), p, n * sizeof(float), cudaMemcpyDeviceToHost);
  return v;
}
static std::vector<float> numbers(size_t n, unsigned seed) {
  std::vector<float> v(n);
  for (float& x : v) x = static_cast<float>((seed = seed * 1664525 + 1013904223) >> 16 & 0xff) / 256 - 0.5f;
  return v;
}

static cublasLtHandle_t handle;
static void* workspace;
constexpr size_t kWorkspace = 4 << 20;

/// d (m x n) = epilogue(op(a) op(b)), all column-major and packed.
static void matmul(float* d, const float* a, bool flip_a, const float* b, bool flip_b, int m, int n, int k,
                   cublasLtEpilogue_t epilogue, float* bias = nullptr, float* aux = nullptr) {
  cublasLtMatmulDesc_t operation;
  check(cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const cublasOperation_t op_a = flip_a ? CUBLAS_OP_T : CUBLAS_OP_N, op_b = flip_b ? CUBLAS_OP_T : CUBLAS_OP_N;
  check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &op_a, sizeof op_a));
  check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &op_b, sizeof op_b));
  check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue, sizeof epilogue));
  if (bias) check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias));
  if (aux) {
    const int64_t ld = m;
    check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, &aux, sizeof aux));
    check(cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, &ld, sizeof ld));
  }
  cublasLtMatrixLayout_t of_a, of_b, of_d;
  check(cublasLtMatrixLayoutCreate(&of_a, CUDA_R_32F, flip_a ? k : m, flip_a ? m : k, flip_a ? k : m));
  check(cublasLtMatrixLayoutCreate(&of_b, CUDA_R_32F, flip_b ? n : k, flip_b ? k : n, flip_b ? n : k));
  check(cublasLtMatrixLayoutCreate(&of_d, CUDA_R_32F, m, n, m));
  cublasLtMatmulPreference_t preference;
  check(cublasLtMatmulPreferenceCreate(&preference));
  check(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
                                             sizeof kWorkspace));
  cublasLtMatmulHeuristicResult_t found;
  int count = 0;
  const cublasStatus_t status =
      cublasLtMatmulAlgoGetHeuristic(handle, operation, of_a, of_b, of_d, of_d, preference, 1, &found, &count);
  if (count == 0) std::printf("epilogue %d: no algorithm (%d)\n", epilogue, status), ++wrong;
  const float alpha = 1, beta = 0;
  if (count > 0)
    check(cublasLtMatmul(handle, operation, &alpha, a, of_a, b, of_b, &beta, d, of_d, d, of_d, &found.algo, workspace,
                         kWorkspace, 0));
  check(cublasLtMatmulPreferenceDestroy(preference));
  for (cublasLtMatrixLayout_t layout : {of_a, of_b, of_d}) check(cublasLtMatrixLayoutDestroy(layout));
  check(cublasLtMatmulDescDestroy(operation));
}

static double gelu(double x) { return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }
static double slope(double x) { return (gelu(x + 1e-4) - gelu(x - 1e-4)) / 2e-4; }

static void compare(const char* what, const std::vector<float>& got, const std::vector<double>& wanted) {
  double error = 0;
  for (size_t i = 0; i < wanted.size(); ++i) error = std::fmax(error, std::fabs(got[i] - wanted[i]));
  if (!(error < 5e-3)) std::printf("%s: error %g\n", what, error), ++wrong;
}

int main() {
  const int in = 48, hidden = 64, out = 16, batch = 40;
  check(cublasLtCreate(&handle));
  cudaMalloc(&workspace, kWorkspace);
  const std::vector<float> x = numbers(in * batch, 1), w1 = numbers(in * hidden, 2), b1 = numbers(hidden, 3),
                           w2 = numbers(hidden * out, 4), dy = numbers(out * batch, 5);
  float *dev_x = on_device(x), *dev_w1 = on_device(w1), *dev_b1 = on_device(b1), *dev_w2 = on_device(w2),
        *dev_dy = on_device(dy);
  float *before, *h, *y, *dh, *dw2, *db2, *db1;
  cudaMalloc(&before, hidden * batch * sizeof(float)), cudaMalloc(&h, hidden * batch * sizeof(float));
  cudaMalloc(&y, out * batch * sizeof(float)), cudaMalloc(&dh, hidden * batch * sizeof(float));
  cudaMalloc(&dw2, hidden * out * sizeof(float)), cudaMalloc(&db2, out * sizeof(float));
  cudaMalloc(&db1, hidden * sizeof(float));

  matmul(h, dev_w1, true, dev_x, false, hidden, batch, in, CUBLASLT_EPILOGUE_GELU_AUX_BIAS, dev_b1, before);
  matmul(y, dev_w2, true, h, false, out, batch, hidden, CUBLASLT_EPILOGUE_RELU);
  matmul(dw2, h, false, dev_dy, true, hidden, out, batch, CUBLASLT_EPILOGUE_BGRADB, db2);
  matmul(dh, dev_w2, false, dev_dy, false, hidden, batch, out, CUBLASLT_EPILOGUE_DGELU_BGRAD, db1, before);

  std::vector<double> at(hidden * batch), act(hidden * batch), last(out * batch), grad(hidden * out), bias2(out),
      back(hidden * batch), bias1(hidden);
  for (int s = 0; s < batch; ++s) {
    for (int i = 0; i < hidden; ++i) {
      double sum = b1[i];
      for (int k = 0; k < in; ++k) sum += double(w1[k + i * in]) * x[k + s * in];
      at[i + s * hidden] = sum, act[i + s * hidden] = gelu(sum);
    }
    for (int i = 0; i < out; ++i) {
      double sum = 0;
      for (int k = 0; k < hidden; ++k) sum += w2[k + i * hidden] * act[k + s * hidden];
      last[i + s * out] = std::fmax(sum, 0.0);
      bias2[i] += dy[i + s * out];
      for (int k = 0; k < hidden; ++k) grad[k + i * hidden] += act[k + s * hidden] * dy[i + s * out];
    }
    for (int k = 0; k < hidden; ++k) {
      double sum = 0;
      for (int i = 0; i < out; ++i) sum += double(w2[k + i * hidden]) * dy[i + s * out];
      back[k + s * hidden] = sum * slope(at[k + s * hidden]);
      bias1[k] += back[k + s * hidden];
    }
  }
  compare("before GELU", to_host(before, at.size()), at);
  compare("hidden layer", to_host(h, act.size()), act);
  compare("last layer", to_host(y, last.size()), last);
  compare("gradient of weights", to_host(dw2, grad.size()), grad);
  compare("gradient of the last bias", to_host(db2, out), bias2);
  compare("gradient of the hidden layer", to_host(dh, back.size()), back);
  compare("gradient of the first bias", to_host(db1, hidden), bias1);
  for (void* p : {(void*)dev_x, (void*)dev_w1, (void*)dev_b1, (void*)dev_w2, (void*)dev_dy, (void*)before, (void*)h,
                  (void*)y, (void*)dh, (void*)dw2, (void*)db2, (void*)db1, workspace})
    cudaFree(p);
  check(cublasLtDestroy(handle));
  std::puts(wrong ? "wrong" : "right");
}
