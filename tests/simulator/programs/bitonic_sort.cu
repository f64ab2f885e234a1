// A bitonic network over global memory, one launch for each of its steps.
#include <stdio.h>
#include <stdlib.h>

__global__ void step(unsigned int *keys, int j, int k)
{
	unsigned int i = threadIdx.x + blockDim.x * blockIdx.x;
	unsigned int other = i ^ j;
	if (other > i) {
		unsigned int a = keys[i], b = keys[other];
		int up = (i & k) == 0;
		if (up ? a > b : a < b) {
			keys[i] = b;
			keys[other] = a;
		}
	}
}

int main(int argc, char **argv)
{
	const int n = 2048;
	unsigned int *keys = (unsigned int *)malloc(n * sizeof(unsigned int)), *d_keys;
	for (int i = 0; i < n; i++)
		keys[i] = i * 2654435761u;
	cudaMalloc((void **)&d_keys, n * sizeof(unsigned int));
	cudaMemcpy(d_keys, keys, n * sizeof(unsigned int), cudaMemcpyHostToDevice);
	for (int k = 2; k <= n; k <<= 1)
		for (int j = k >> 1; j > 0; j >>= 1)
			step<<<n / 256, 256>>>(d_keys, j, k);
	cudaMemcpy(keys, d_keys, n * sizeof(unsigned int), cudaMemcpyDeviceToHost);
	int wrong = 0;
	for (int i = 1; i < n; i++)
		wrong += keys[i - 1] > keys[i];
	cudaFree(d_keys);
	free(keys);
	printf("%s\n", wrong ? "wrong" : "right");
	return wrong;
}
