// The stand-ins for NVIDIA's libraries, called as a C++ program calls the originals. Their headers
// are not needed: what is used of them is declared here, enumerations as int. Runs on two simulated
// GPUs of exactly 80 GiB (tests/integration/meson.build).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

extern "C" {
int cublasCreate_v2(void** handle);
int cublasDestroy_v2(void* handle);
int cublasSetStream_v2(void* handle, cudaStream_t stream);
int cublasGetStream_v2(void* handle, cudaStream_t* stream);
int cublasSetPointerMode_v2(void* handle, int mode);
int cublasSgemm_v2(void* handle, int transa, int transb, int m, int n, int k, const float* alpha,
                   const float* a, int lda, const float* b, int ldb, const float* beta, float* c,
                   int ldc);
int cublasSdot_v2(void* handle, int n, const float* x, int incx, const float* y, int incy,
                  float* result);
int cublasDotEx(void* handle, int n, const void* x, int x_type, int incx, const void* y, int y_type,
                int incy, void* result, int result_type, int execution_type);
int cublasSetMatrix(int rows, int columns, int element_bytes, const void* a, int lda, void* b,
                    int ldb);

int cublasLtMatmulAlgoGetHeuristic(void* handle, void* operation, void* a, void* b, void* c,
                                   void* d, void* preference, int capacity, void* results,
                                   int* count);

int cudnnCreate(void** handle);
int cudnnBackendCreateDescriptor(int type, void** descriptor);
int cudnnBackendDestroyDescriptor(void* descriptor);
int cudnnBackendSetAttribute(void* descriptor, int name, int type, int64_t count,
                             const void* values);
int cudnnBackendGetAttribute(void* descriptor, int name, int type, int64_t capacity, int64_t* count,
                             void* values);
int cudnnBackendExecute(void* handle, void* plan, void* variant_pack);
int cudnnCreateRNNDescriptor(void** descriptor);
int cudnnSetRNNDescriptor_v8(void* descriptor, int algorithm, int cell, int bias, int direction,
                             int input_mode, int data_type, int precision, int math_type,
                             int32_t input_size, int32_t hidden_size, int32_t projection_size,
                             int32_t layers, void* dropout, uint32_t flags);
int cudnnGetRNNWeightSpaceSize(void* handle, void* descriptor, size_t* size_bytes);
int cudnnGetRNNWeightParams(void* handle, void* descriptor, int32_t pseudo_layer, size_t size_bytes,
                            const void* weights, int32_t linear_layer, void* matrix_descriptor,
                            void** matrix, void* bias_descriptor, void** bias);

int cufftCreate(int* plan);
int cufftDestroy(int plan);
int cufftExecC2C(int plan, void* input, void* output, int direction);

int cusolverDnCreate(void** handle);
int cusolverDnDestroy(void* handle);
int cusolverDnSgetrf_bufferSize(void* handle, int m, int n, float* a, int lda, int* size);
int cusolverDnXgesvdp(void* handle);

int cusparseCreate(void** handle);
int cusparseDestroy(void* handle);
int cusparseSpMatGetSize(void* matrix, int64_t* rows, int64_t* columns, int64_t* nonzeros);
int cusparseXbsrsv2_zeroPivot(void* handle, void* info, int* position);

int ncclCommInitAll(void** communicators, int count, const int* devices);
int ncclCommDestroy(void* communicator);
int ncclGroupStart();
int ncclGroupEnd();
int ncclBroadcast(const void* send, void* receive, size_t count, int data_type, int root,
                  void* communicator, cudaStream_t stream);
int ncclAllGather(const void* send, void* receive, size_t count, int data_type, void* communicator,
                  cudaStream_t stream);

int nvmlInit_v2();
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device);
int nvmlDeviceGetHandleByPciBusId_v2(const char* text, void** device);
int nvmlDeviceGetIndex(void* device, unsigned* index);
int nvmlDeviceGetMemoryInfo(void* device, void* memory);
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, void* processes);
}

namespace {

constexpr size_t kGiB = 1ull << 30;

class Libraries : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  }
  void TearDown() override { EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess); }

  cudaStream_t stream = nullptr;
};

TEST_F(Libraries, ACapturedGemmIsOneKernel) {
  void* handle = nullptr;
  ASSERT_EQ(cublasCreate_v2(&handle), 0);
  ASSERT_EQ(cublasSetStream_v2(handle, stream), 0);
  cudaStream_t kept = nullptr;
  ASSERT_EQ(cublasGetStream_v2(handle, &kept), 0);
  EXPECT_EQ(kept, stream);

  const float one = 1;
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cublasSgemm_v2(handle, 0, 0, 1, 1, 1, &one, nullptr, 1, nullptr, 1, &one, nullptr, 1),
            0);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  std::array<cudaGraphNode_t, 4> nodes{};
  size_t count = nodes.size();
  ASSERT_EQ(cudaGraphGetNodes(graph, nodes.data(), &count), cudaSuccess);
  ASSERT_EQ(count, 1u);
  cudaGraphNodeType type{};
  ASSERT_EQ(cudaGraphNodeGetType(nodes[0], &type), cudaSuccess);
  EXPECT_EQ(type, cudaGraphNodeTypeKernel);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cublasDestroy_v2(handle), 0);
}

TEST_F(Libraries, ResultsOnTheHostAreZeroAndNoLonger) {
  void* handle = nullptr;
  ASSERT_EQ(cublasCreate_v2(&handle), 0);
  std::array<float, 2> result = {5, 6};
  ASSERT_EQ(cublasSdot_v2(handle, 1, nullptr, 1, nullptr, 1, result.data()), 0);
  EXPECT_EQ(result, (std::array<float, 2>{0, 6}));

  constexpr int kHalf = 2;  // CUDA_R_16F
  std::array<uint16_t, 2> half = {7, 8};
  ASSERT_EQ(cublasDotEx(handle, 1, nullptr, kHalf, 1, nullptr, kHalf, 1, half.data(), kHalf, 0), 0);
  EXPECT_EQ(half, (std::array<uint16_t, 2>{0, 8}));

  constexpr int kOnDevice = 1;
  ASSERT_EQ(cublasSetPointerMode_v2(handle, kOnDevice), 0);
  result = {5, 6};
  ASSERT_EQ(cublasSdot_v2(handle, 1, nullptr, 1, nullptr, 1, result.data()), 0);
  EXPECT_EQ(result, (std::array<float, 2>{5, 6}));
  EXPECT_EQ(cublasDestroy_v2(handle), 0);
}

TEST_F(Libraries, CublasCopiesMatricesByColumns) {
  // Two columns of two elements, three apart on the host and two apart on the device.
  const std::array<int, 6> source = {1, 2, 99, 3, 4, 99};
  void* device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 16), cudaSuccess);
  ASSERT_EQ(cublasSetMatrix(2, 2, sizeof(int), source.data(), 3, device, 2), 0);
  std::array<int, 4> back{};
  ASSERT_EQ(cudaMemcpy(back.data(), device, 16, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, (std::array<int, 4>{1, 2, 3, 4}));
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(Libraries, TheHeuristicOffersOneAlgorithmWithoutWorkspace) {
  struct {
    uint64_t algorithm[8];
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
  } results[2];
  std::memset(results, 0xFF, sizeof results);
  int count = 0;
  ASSERT_EQ(cublasLtMatmulAlgoGetHeuristic(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                           nullptr, 2, results, &count),
            0);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(results[0].workspace_bytes, 0u);
  EXPECT_EQ(results[0].status, 0);
  EXPECT_EQ(results[1].workspace_bytes, SIZE_MAX);
}

// cudnnBackendDescriptorType_t, ...AttributeName_t, ...AttributeType_t
constexpr int kEngineConfig = 3;
constexpr int kEngineHeuristic = 4;
constexpr int kPlan = 5;
constexpr int kConvolutionForward = 10;
constexpr int kOperationGraph = 15;
constexpr int kHeuristicOperationGraph = 201;
constexpr int kHeuristicResults = 202;
constexpr int kPlanEngineConfig = 401;
constexpr int kPlanWorkspaceSize = 402;
constexpr int kOperations = 801;
constexpr int kInt64 = 3;
constexpr int kDescriptor = 15;

TEST_F(Libraries, CudnnPlansAConvolutionAndWarnsOnce) {
  void* handle = nullptr;
  void* convolution = nullptr;
  void* graph = nullptr;
  void* heuristic = nullptr;
  void* configuration = nullptr;
  void* plan = nullptr;
  ASSERT_EQ(cudnnCreate(&handle), 0);
  ASSERT_EQ(cudnnBackendCreateDescriptor(kConvolutionForward, &convolution), 0);
  ASSERT_EQ(cudnnBackendCreateDescriptor(kOperationGraph, &graph), 0);
  ASSERT_EQ(cudnnBackendSetAttribute(graph, kOperations, kDescriptor, 1, &convolution), 0);
  ASSERT_EQ(cudnnBackendCreateDescriptor(kEngineHeuristic, &heuristic), 0);
  ASSERT_EQ(cudnnBackendSetAttribute(heuristic, kHeuristicOperationGraph, kDescriptor, 1, &graph),
            0);
  ASSERT_EQ(cudnnBackendCreateDescriptor(kEngineConfig, &configuration), 0);
  int64_t count = 0;
  ASSERT_EQ(cudnnBackendGetAttribute(heuristic, kHeuristicResults, kDescriptor, 1, &count,
                                     &configuration),
            0);
  EXPECT_EQ(count, 1);
  ASSERT_EQ(cudnnBackendCreateDescriptor(kPlan, &plan), 0);
  ASSERT_EQ(cudnnBackendSetAttribute(plan, kPlanEngineConfig, kDescriptor, 1, &configuration), 0);
  // The plan needs none of the others any more.
  for (void* descriptor : {convolution, graph, heuristic, configuration}) {
    ASSERT_EQ(cudnnBackendDestroyDescriptor(descriptor), 0);
  }
  int64_t workspace_bytes = -1;
  ASSERT_EQ(cudnnBackendGetAttribute(plan, kPlanWorkspaceSize, kInt64, 1, &count, &workspace_bytes),
            0);
  EXPECT_EQ(workspace_bytes, 0);

  testing::internal::CaptureStderr();
  EXPECT_EQ(cudnnBackendExecute(handle, plan, nullptr), 0);
  EXPECT_EQ(cudnnBackendExecute(handle, plan, nullptr), 0);
  EXPECT_EQ(
      testing::internal::GetCapturedStderr(),
      "simgpu: cuDNN workspaces are not simulated: peaks with convolutions are a lower bound\n");
  EXPECT_EQ(cudnnBackendDestroyDescriptor(plan), 0);
}

TEST_F(Libraries, CudnnPacksTheWeightsOfAnLstm) {
  // One layer, both directions, input 3, hidden 5, in float: each direction has for each of four
  // gates an input matrix 5x3, a recurrent one 5x5, and two biases of 5:
  // 4 * (15 + 25 + 5 + 5) = 200 elements.
  constexpr int kLstm = 2;
  constexpr int kDoubleBias = 2;
  constexpr int kBidirectional = 1;
  void* rnn = nullptr;
  ASSERT_EQ(cudnnCreateRNNDescriptor(&rnn), 0);
  ASSERT_EQ(cudnnSetRNNDescriptor_v8(rnn, 0, kLstm, kDoubleBias, kBidirectional, 0, 0, 0, 0, 3, 5,
                                     0, 1, nullptr, 0),
            0);
  size_t size_bytes = 0;
  ASSERT_EQ(cudnnGetRNNWeightSpaceSize(nullptr, rnn, &size_bytes), 0);
  EXPECT_EQ(size_bytes, 2u * 200 * 4);

  // Second direction, gate 1, recurrent: after the first direction, four input matrices and one
  // recurrent one; its bias after all eight matrices and five biases.
  std::array<char, 2 * 200 * 4> weights{};
  void* matrix = nullptr;
  void* bias = nullptr;
  ASSERT_EQ(cudnnGetRNNWeightParams(nullptr, rnn, 1, size_bytes, weights.data(), 5, nullptr,
                                    &matrix, nullptr, &bias),
            0);
  EXPECT_EQ(static_cast<char*>(matrix) - weights.data(), (200 + 4 * 15 + 25) * 4);
  EXPECT_EQ(static_cast<char*>(bias) - weights.data(), (200 + 4 * 15 + 4 * 25 + 5 * 5) * 4);
}

TEST_F(Libraries, CufftKnowsItsPlans) {
  int plan = 0;
  ASSERT_EQ(cufftCreate(&plan), 0);
  EXPECT_EQ(cufftExecC2C(plan, nullptr, nullptr, 1), 0);
  EXPECT_EQ(cufftDestroy(plan), 0);
  EXPECT_EQ(cufftExecC2C(plan, nullptr, nullptr, 1), 1);  // CUFFT_INVALID_PLAN
}

TEST_F(Libraries, SizesAreDefinedAndWhatCannotBeFakedIsRefused) {
  void* solver = nullptr;
  ASSERT_EQ(cusolverDnCreate(&solver), 0);
  int size = -1;
  ASSERT_EQ(cusolverDnSgetrf_bufferSize(solver, 4, 4, nullptr, 4, &size), 0);
  EXPECT_EQ(size, 0);
  EXPECT_EQ(cusolverDnDestroy(solver), 0);

  void* sparse = nullptr;
  ASSERT_EQ(cusparseCreate(&sparse), 0);
  int position = 0;
  ASSERT_EQ(cusparseXbsrsv2_zeroPivot(sparse, nullptr, &position), 0);
  EXPECT_EQ(position, -1);
  EXPECT_EQ(cusparseDestroy(sparse), 0);

  testing::internal::CaptureStderr();
  int64_t rows = 0;
  EXPECT_EQ(cusparseSpMatGetSize(nullptr, &rows, &rows, &rows), 10);  // ..._NOT_SUPPORTED
  EXPECT_EQ(cusparseSpMatGetSize(nullptr, &rows, &rows, &rows), 10);
  EXPECT_EQ(cusolverDnXgesvdp(nullptr), 9);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "simgpu: cusparseSpMatGetSize is not supported by the simulated GPU (10)\n"
            "simgpu: cusolverDnXgesvdp is not supported by the simulated GPU (9)\n");
}

TEST_F(Libraries, NcclActsAsIfAllRanksHeldTheSame) {
  constexpr int kInt32 = 2;
  std::array<void*, 2> ranks{};
  ASSERT_EQ(ncclCommInitAll(ranks.data(), 2, nullptr), 0);
  int* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 12), cudaSuccess);
  const std::array<int, 3> initial = {7, 0, 0};
  std::array<int, 3> values{};

  // device[0] is sent, device[1] and device[2] are the ranks' slots.
  ASSERT_EQ(cudaMemcpy(device, initial.data(), 12, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(ncclAllGather(device, device + 1, 1, kInt32, ranks[1], stream), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(values.data(), device, 12, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, (std::array<int, 3>{7, 7, 7}));

  // An uneven gather: one broadcast for each root, on rank 1.
  ASSERT_EQ(cudaMemcpy(device, initial.data(), 12, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(ncclGroupStart(), 0);
  ASSERT_EQ(ncclBroadcast(device + 1, device + 1, 1, kInt32, 0, ranks[1], stream), 0);
  ASSERT_EQ(ncclBroadcast(device, device + 2, 1, kInt32, 1, ranks[1], stream), 0);
  ASSERT_EQ(ncclGroupEnd(), 0);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(values.data(), device, 12, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(values, (std::array<int, 3>{7, 7, 7}));

  EXPECT_EQ(cudaFree(device), cudaSuccess);
  for (void* rank : ranks) EXPECT_EQ(ncclCommDestroy(rank), 0);
}

TEST_F(Libraries, NvmlAgreesWithTheDriver) {
  ASSERT_EQ(nvmlInit_v2(), 0);
  unsigned boards = 0;
  ASSERT_EQ(nvmlDeviceGetCount_v2(&boards), 0);
  EXPECT_EQ(boards, 2u);
  void* board = nullptr;
  EXPECT_EQ(nvmlDeviceGetHandleByIndex_v2(2, &board), 2);  // NVML_ERROR_INVALID_ARGUMENT

  char pci_bus_id[32];
  ASSERT_EQ(cudaDeviceGetPCIBusId(pci_bus_id, sizeof pci_bus_id, 1), cudaSuccess);
  ASSERT_EQ(nvmlDeviceGetHandleByPciBusId_v2(pci_bus_id, &board), 0);
  unsigned index = 0;
  ASSERT_EQ(nvmlDeviceGetIndex(board, &index), 0);
  EXPECT_EQ(index, 1u);

  ASSERT_EQ(nvmlDeviceGetHandleByIndex_v2(0, &board), 0);
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, kGiB), cudaSuccess);
  size_t free_bytes = 0;
  size_t total_bytes = 0;
  ASSERT_EQ(cudaMemGetInfo(&free_bytes, &total_bytes), cudaSuccess);
  struct {
    uint64_t total, free, used;
  } usage{};
  ASSERT_EQ(nvmlDeviceGetMemoryInfo(board, &usage), 0);
  EXPECT_EQ(usage.total, 80 * kGiB);
  EXPECT_EQ(usage.free, free_bytes);
  EXPECT_EQ(usage.used, 80 * kGiB - free_bytes);

  struct {
    unsigned pid;
    uint64_t used_bytes;
    unsigned instances[2];
  } process{};
  unsigned count = 0;
  EXPECT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(board, &count, &process), 7);  // too small
  EXPECT_EQ(count, 1u);
  ASSERT_EQ(nvmlDeviceGetComputeRunningProcesses_v3(board, &count, &process), 0);
  EXPECT_EQ(process.pid, static_cast<unsigned>(getpid()));
  EXPECT_EQ(process.used_bytes, usage.used);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
}

}  // namespace
