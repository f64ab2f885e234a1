// NCCL's ranks: one on each device of this process. TILEWISE_NO_NCCL: NCCL isn't on this computer.
#pragma once

#ifndef TILEWISE_NO_NCCL
#include <nccl.h>

#include <stdexcept>
#include <string>
#include <vector>

/// Throws with the call and NCCL's words unless it succeeds.
#define NCCL_CHECK(...)                                                 \
  do {                                                                  \
    const ncclResult_t nccl_result = (__VA_ARGS__);                     \
    if (nccl_result != ncclSuccess)                                     \
      throw std::runtime_error(std::string(#__VA_ARGS__) + ": " +       \
                               ncclGetErrorString(nccl_result) + ": " + \
                               ncclGetLastError(nullptr));              \
  } while (false)

/// A communicator of one rank on each of the first `size` devices.
class Ranks {
 public:
  explicit Ranks(int size) : comms_(size) {
    NCCL_CHECK(ncclCommInitAll(comms_.data(), size, nullptr));
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() {
    for (ncclComm_t comm : comms_) ncclCommDestroy(comm);
  }
  int size() const { return static_cast<int>(comms_.size()); }
  ncclComm_t operator[](int rank) const { return comms_[rank]; }

  /// call(rank) for each rank. All of them belong to this thread, so they must be asked together: the
  /// first call would wait for the second one, which hasn't been made.
  template <class Call>
  void together(Call call) const {
    // [together]
    NCCL_CHECK(ncclGroupStart());
    for (int rank = 0; rank < size(); ++rank) NCCL_CHECK(call(rank));
    NCCL_CHECK(ncclGroupEnd());
    // [together]
  }

 private:
  std::vector<ncclComm_t> comms_;
};
#endif
