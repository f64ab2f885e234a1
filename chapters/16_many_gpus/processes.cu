// One process for each GPU, on one computer or on several: each sums its part of many numbers, and
// NCCL adds up what they have. Needs GPUs: the simulator's devices belong to one process.
//   nvcc -std=c++20 processes.cu -lnccl -o processes
//   for r in 0 1; do ./processes --rank $r --ranks 2 --meet file:/tmp/meet & done; wait
//   ./processes --rank 0 --ranks 2 --meet 10.0.0.1:5555         on the computer 10.0.0.1
//   ./processes --rank 1 --ranks 2 --meet 10.0.0.1:5555         on another one
//   mpirun -np 2 ./processes                      compiled with -DWITH_MPI, and MPI's -I, -L and -lmpi
// srun and mpirun tell each process its rank, so --rank and --ranks may be left out there.
#include <arpa/inet.h>
#include <cuda_runtime.h>
#include <nccl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "many_gpus.cuh"
#ifdef WITH_MPI
#include <mpi.h>
#endif

using Clock = std::chrono::steady_clock;

int rank = -1, ranks = -1;

/// Says why on one line and ends this process. The others see that it's gone, and end, too.
[[noreturn]] void end(const std::string& why, int code = 1) {
  if (rank < 0)
    std::fprintf(stderr, "processes: %s\n", why.c_str());
  else
    std::fprintf(stderr, "rank %d: %s\n", rank, why.c_str());
  std::_Exit(code);
}
void check(cudaError_t error, const char* what) {
  if (error != cudaSuccess) end(std::string(what) + ": " + cudaGetErrorString(error));
}

// ---------------------------------------------------------------- where processes meet

/// Tries again until it's true or the time is over.
bool within(double seconds, const std::function<bool()>& done) {
  const auto begin = Clock::now();
  while (!done()) {
    if (std::chrono::duration<double>(Clock::now() - begin).count() > seconds) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

/// Rank 0 writes the id into a file that all of them see, and the others wait for it.
void meet_in_file(const std::string& name, ncclUniqueId& id, double seconds) {
  if (rank == 0) {
    const std::string unfinished = name + ".new";
    std::ofstream file(unfinished, std::ios::binary);
    file.write(id.internal, sizeof id.internal);
    file.close();
    if (!file || std::rename(unfinished.c_str(), name.c_str()) != 0)
      end("--meet file:" + name + ": cannot write there");
    return;
  }
  if (!within(seconds, [&] {
        std::ifstream file(name, std::ios::binary);
        return static_cast<bool>(file.read(id.internal, sizeof id.internal));
      }))
    end("rank 0 has not written " + name + " within " + std::to_string(int(seconds)) + " s");
}

/// Rank 0 listens at its address, and gives the id to each of the others.
void meet_at(const std::string& host, const std::string& port, ncclUniqueId& id, double seconds) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0)
    end("--meet " + host + ":" + port + ": no such address");
  const auto make = [&] { return socket(found->ai_family, found->ai_socktype, 0); };
  if (rank == 0) {
    const int listening = make(), yes = 1;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(listening, found->ai_addr, found->ai_addrlen) != 0 || listen(listening, ranks) != 0)
      end("--meet " + host + ":" + port + ": cannot listen there (" + std::strerror(errno) + ")");
    timeval limit{};
    limit.tv_sec = static_cast<long>(seconds);
    setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    for (int other = 1; other < ranks; ++other) {
      const int s = accept(listening, nullptr, nullptr);
      if (s < 0)
        end(std::to_string(ranks - other) + " of " + std::to_string(ranks) +
            " ranks have not come");
      if (write(s, id.internal, sizeof id.internal) != ssize_t(sizeof id.internal))
        end("a rank has hung up");
      close(s);
    }
    close(listening);
  } else if (!within(seconds, [&] {
               const int s = make();
               const bool got = connect(s, found->ai_addr, found->ai_addrlen) == 0 &&
                                recv(s, id.internal, sizeof id.internal, MSG_WAITALL) ==
                                    ssize_t(sizeof id.internal);
               close(s);
               return got;
             })) {
    end("rank 0 does not answer at " + host + ":" + port);
  }
  freeaddrinfo(found);
}

// ---------------------------------------------------------------- NCCL that doesn't wait for ever

/// Waits until NCCL has done what it was asked for. A rank that is dead, or doesn't come, would be waited for
/// without end: so give up after a while, and abort.
void wait_for_nccl(ncclComm_t comm, cudaStream_t stream, const char* what, double seconds) {
  ncclResult_t state = ncclSuccess;
  cudaError_t done = cudaSuccess;
  const bool in_time = within(seconds, [&] {
    if (ncclCommGetAsyncError(comm, &state) != ncclSuccess) state = ncclInternalError;
    done = stream ? cudaStreamQuery(stream) : cudaSuccess;
    return (state != ncclInProgress && done != cudaErrorNotReady) ||
           (state != ncclSuccess && state != ncclInProgress);
  });
  if (in_time && state == ncclSuccess && done == cudaSuccess) return;
  const std::string why =
      !in_time ? "not done within " + std::to_string(int(seconds)) + " s: is another rank gone?"
      : state != ncclSuccess ? ncclGetErrorString(state)
                             : cudaGetErrorString(done);
  ncclCommAbort(comm);
  end(std::string(what) + ": " + why);
}
void check(ncclResult_t result, const char* what) {
  if (result != ncclSuccess && result != ncclInProgress)
    end(std::string(what) + ": " + ncclGetErrorString(result));
}

// ---------------------------------------------------------------- the program

int number_from(const char* text, const std::string& option, long low, long high) {
  char* rest;
  const long value = std::strtol(text, &rest, 10);
  if (*text == '\0' || *rest != '\0' || value < low || value > high)
    end(option + " '" + text + "': allowed are " + std::to_string(low) + " to " +
            std::to_string(high),
        2);
  return static_cast<int>(value);
}
/// The first of these variables that is there.
int from_environment(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const char* value = std::getenv(name)) return number_from(value, name, 0, 1 << 20);
  return -1;
}

int main(int argc, char** argv) {
  std::string meet;
  int n = 1 << 28, seconds = 20, die = 0;
  rank = from_environment({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
  ranks = from_environment({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"});
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (++i == argc) end(option + ": a value is missing", 2);
    if (option == "--rank")
      rank = number_from(argv[i], option, 0, 1 << 20);
    else if (option == "--ranks")
      ranks = number_from(argv[i], option, 1, 1 << 20);
    else if (option == "--meet")
      meet = argv[i];
    else if (option == "--n")
      n = number_from(argv[i], option, 0, (1L << 31) - 257);
    else if (option == "--seconds")
      seconds = number_from(argv[i], option, 1, 3600);
    else if (option == "--die")
      die = number_from(argv[i], option, 0, 1);  // to see what the others do
    else
      end(option + ": no such option; there are --rank --ranks --meet --n --seconds --die", 2);
  }
#ifdef WITH_MPI
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
#endif
  if (rank < 0 || ranks < 1 || rank >= ranks) end("--rank must be 0 to --ranks less 1", 2);

  // Which GPU? Ranks of one computer count from 0; mpirun and srun say so.
  int devices = 0,
      local = from_environment({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"});
  check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  if (local < 0) local = rank % devices;
  if (local >= devices)
    end(std::to_string(ranks) + " ranks and " + std::to_string(devices) +
            " GPUs here: NCCL takes one rank for each GPU",
        2);
  check(cudaSetDevice(local), "cudaSetDevice");

  ncclUniqueId id;
  if (rank == 0) check(ncclGetUniqueId(&id), "ncclGetUniqueId");
#ifdef WITH_MPI
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
#else
  const std::size_t colon = meet.rfind(':');
  if (ranks > 1 && (colon == std::string::npos || colon == 0))
    end("--meet: file:NAME, or HOST:PORT", 2);
  if (ranks > 1 && meet.starts_with("file:"))
    meet_in_file(meet.substr(5), id, seconds);
  else if (ranks > 1)
    meet_at(meet.substr(0, colon), meet.substr(colon + 1), id, seconds);
#endif
  ncclComm_t comm;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;  // calls come back at once, and say that they are in progress
  check(ncclCommInitRankConfig(&comm, ranks, id, rank, &config), "ncclCommInitRankConfig");
  wait_for_nccl(comm, nullptr, "ncclCommInitRankConfig", seconds);
  if (rank == 0 && meet.starts_with("file:")) std::remove(meet.substr(5).c_str());

  // Reduce locally, then across. All numbers are small integers: the sum is exact.
  std::vector<float> host(n);
  double mine = 0;
  for (int i = 0; i < n; ++i) mine += host[i] = static_cast<float>((i + rank) % 9 - 4);
  float *x = nullptr, *total = nullptr;
  cudaStream_t stream;
  check(cudaStreamCreate(&stream), "cudaStreamCreate");
  check(cudaMalloc(&x, sizeof(float) * (n + 1)), "cudaMalloc");
  check(cudaMalloc(&total, 2 * sizeof(float)), "cudaMalloc");
  check(cudaMemcpy(x, host.data(), sizeof(float) * n, cudaMemcpyHostToDevice), "cudaMemcpy");
  check(cudaMemset(total, 0, 2 * sizeof(float)), "cudaMemset");
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  check(launch_sum(n, 1024, x, total, stream), "sum");
  if (die == 1) end("dies, as it was told to");
  check(ncclAllReduce(total, total + 1, 1, ncclFloat, ncclSum, comm, stream), "ncclAllReduce");
  wait_for_nccl(comm, stream, "ncclAllReduce", seconds);

  float got[2];
  check(cudaMemcpy(got, total, sizeof got, cudaMemcpyDeviceToHost), "cudaMemcpy");
  double right = 0;
  for (int r = 0; r < ranks; ++r)
    for (int i = 0, left = n % 9; i < left; ++i)
      right += (n - left + i + r) % 9 - 4;  // nine add up to 0
  const bool ok = got[0] == mine && got[1] == right;
  std::printf("rank %d of %d, device %d: my sum %.0f, all sums %.0f: %s\n", rank, ranks, local,
              got[0], got[1], ok ? "right" : "WRONG");
  ncclCommFinalize(comm);
  wait_for_nccl(comm, nullptr, "ncclCommFinalize", seconds);
  ncclCommDestroy(comm);
  cudaFree(x);
  cudaFree(total);
#ifdef WITH_MPI
  MPI_Finalize();
#endif
  return ok ? 0 : 1;
}
