// NCCL, as far as the simulator has it: collective operations and sends between the simulated devices of one process
// (TILEWISE_DEVICES). The CPU computes (libraries/nccl.cpp); the calls, their checks and their results are NCCL's. Comments say
// where the simulator differs. Functions that are not here are named below: calling one is a compile-time error.
#pragma once
#define NCCL_H_  // programs ask for it

#include <cstddef>
#include <cstdint>

#include "cuda_runtime_api.h"
#include "tilewise_device/not_supported.hpp"

// The version that this follows.
#define NCCL_MAJOR 2
#define NCCL_MINOR 23
#define NCCL_PATCH 4
#define NCCL_SUFFIX ""
#define NCCL_VERSION_CODE 22304
#define NCCL_VERSION(X, Y, Z) (((X) <= 2 && (Y) <= 8) ? (X)*1000 + (Y)*100 + (Z) : (X)*10000 + (Y)*100 + (Z))

#define NCCL_UNIQUE_ID_BYTES 128
typedef struct {
  char internal[NCCL_UNIQUE_ID_BYTES];
} ncclUniqueId;

/// A rank's part of a communicator.
typedef struct ncclComm* ncclComm_t;
#define NCCL_COMM_NULL nullptr

/// ncclInternalError here also means: the call was refused, and a finding says why. On a GPU it would hang, or the device fail.
typedef enum {
  ncclSuccess = 0,
  ncclUnhandledCudaError = 1,
  ncclSystemError = 2,
  ncclInternalError = 3,
  ncclInvalidArgument = 4,
  ncclInvalidUsage = 5,
  ncclRemoteError = 6,
  ncclInProgress = 7,
  ncclNumResults = 8
} ncclResult_t;

typedef enum { ncclSum = 0, ncclProd = 1, ncclMax = 2, ncclMin = 3, ncclAvg = 4, ncclNumOps = 5 } ncclRedOp_t;

typedef enum {
  ncclInt8 = 0,
  ncclChar = 0,
  ncclUint8 = 1,
  ncclInt32 = 2,
  ncclInt = 2,
  ncclUint32 = 3,
  ncclInt64 = 4,
  ncclUint64 = 5,
  ncclFloat16 = 6,
  ncclHalf = 6,
  ncclFloat32 = 7,
  ncclFloat = 7,
  ncclFloat64 = 8,
  ncclDouble = 8,
  ncclBfloat16 = 9,
  ncclNumTypes = 10
} ncclDataType_t;

extern "C" {

// ---------------------------------------------------------------- versions and errors
ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
/// The last result of this host thread that wasn't ncclSuccess, in words.
const char* ncclGetLastError(ncclComm_t comm);

// ---------------------------------------------------------------- communicators
ncclResult_t ncclGetUniqueId(ncclUniqueId* uniqueId);
/// Waits until all ranks have called it, each in a host thread of its own or all between ncclGroupStart() and ncclGroupEnd(). The
/// rank's device is the current one. All ranks are in one process here.
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int nranks, ncclUniqueId commId, int rank);
/// Communicators of `ndev` ranks, all of this process; rank i is on devlist[i], or on device i with a null list.
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int ndev, const int* devlist);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
/// What its ranks have asked for and not got is given up, and who waits for it is told.
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* result);
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count);
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device);
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank);

// ---------------------------------------------------------------- collective operations: all ranks call them, in one order
/// Counts are of elements. A buffer may be the other one exactly (in place) and must not overlap it otherwise. Sums are added up in
/// the order of the ranks, in the elements' type (16-bit ones in float); NCCL's order is its own.
ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                        int root, ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream);
ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, int root,
                           ncclComm_t comm, cudaStream_t stream);
ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype, ncclRedOp_t op,
                           ncclComm_t comm, cudaStream_t stream);
/// Each rank gives nranks x recvcount elements and gets the rank-th part of the result.
ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount, ncclDataType_t datatype,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream);
/// Each rank gives sendcount elements and gets those of all ranks, in the order of the ranks.
ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount, ncclDataType_t datatype,
                           ncclComm_t comm, cudaStream_t stream);

// ---------------------------------------------------------------- from one rank to another
ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream);
ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer, ncclComm_t comm,
                      cudaStream_t stream);

// ---------------------------------------------------------------- groups: what is called in one begins at its end, all at once
ncclResult_t ncclGroupStart();
ncclResult_t ncclGroupEnd();

}  // extern "C"

// ---------------------------------------------------------------- what NCCL has and the simulator lacks
TILEWISE_NOT_SUPPORTED(ncclCommInitRankConfig);
TILEWISE_NOT_SUPPORTED(ncclCommInitRankScalable);
TILEWISE_NOT_SUPPORTED(ncclCommSplit);
TILEWISE_NOT_SUPPORTED(ncclCommRegister);
TILEWISE_NOT_SUPPORTED(ncclCommDeregister);
TILEWISE_NOT_SUPPORTED(ncclMemAlloc);
TILEWISE_NOT_SUPPORTED(ncclMemFree);
TILEWISE_NOT_SUPPORTED(ncclRedOpCreatePreMulSum);
TILEWISE_NOT_SUPPORTED(ncclRedOpDestroy);
TILEWISE_NOT_SUPPORTED(ncclGroupSimulateEnd);
TILEWISE_NOT_SUPPORTED(pncclAllReduce);
