// A list of objects in managed memory, by a base class whose operator new allocates there.
#include <cstdio>
#include <new>

class Managed {
 public:
  void* operator new(size_t bytes) {
    void* place = nullptr;
    if (cudaMallocManaged(&place, bytes) != cudaSuccess) throw std::bad_alloc();
    cudaDeviceSynchronize();
    return place;
  }
  void operator delete(void* place) {
    cudaDeviceSynchronize();
    cudaFree(place);
  }
};
struct Node : Managed {
  Node(int v, Node* n) : value(v), next(n) {}
  int value;
  Node* next;
};
struct Total : Managed {
  long long sum = 0;
  int count = 0;
};

__global__ void walk(const Node* first, Total* total) {
  for (const Node* node = first; node != nullptr; node = node->next) {
    total->sum += node->value;
    total->count++;
  }
}

int main() {
  Node* first = nullptr;
  for (int i = 1; i <= 100; ++i) first = new Node(i * i, first);
  Total* total = new Total;
  walk<<<1, 1>>>(first, total);
  cudaDeviceSynchronize();
  const bool right = total->sum == 338350 && total->count == 100;
  delete total;
  while (first) {
    Node* next = first->next;
    delete first;
    first = next;
  }
  std::puts(right ? "right" : "wrong");
}
