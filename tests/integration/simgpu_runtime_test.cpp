// The simulated CUDA runtime, called as a C++ program calls it. Runs on two simulated GPUs of
// exactly 80 GiB (tests/integration/meson.build).
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

// What nvcc's generated code calls, and the per-thread twins, which the header only declares for
// programs that use no others.
extern "C" {
void** __cudaRegisterFatBinary(void* image);
void __cudaUnregisterFatBinary(void** handle);
void __cudaRegisterFunction(void** handle, const char* host_function, char* device_function,
                            const char* device_name, int thread_limit, uint3* thread_id,
                            uint3* block_id, dim3* block, dim3* grid, int* warp_size);
void __cudaRegisterVar(void** handle, char* host_variable, char* device_address,
                       const char* device_name, int external, size_t size_bytes, int constant,
                       int global);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes,
                                     cudaStream_t stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, void* stream);
cudaError_t cudaStreamGetId_ptsz(cudaStream_t stream, unsigned long long* id);
cudaError_t cudaMemcpy_ptds(void* destination, const void* source, size_t size_bytes,
                            cudaMemcpyKind kind);
cudaError_t cudaStreamBeginCapture_ptsz(cudaStream_t stream, cudaStreamCaptureMode mode);
}

namespace {

constexpr size_t kGiB = 1ull << 30;
constexpr size_t kMiB = 1ull << 20;

size_t free_bytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  EXPECT_EQ(total, 80 * kGiB);
  return free;
}

class Runtime : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
  }
};

TEST_F(Runtime, ReportsItsVersionsAndDevices) {
  int runtime = 0;
  int driver = 0;
  int devices = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&runtime), cudaSuccess);
  EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_EQ(cudaGetDeviceCount(&devices), cudaSuccess);
  EXPECT_EQ(runtime, 13020);
  EXPECT_EQ(driver, 13020);
  EXPECT_EQ(devices, 2);
}

TEST_F(Runtime, FillsDevicePropertiesFromTheProfile) {
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  EXPECT_EQ(properties.totalGlobalMem, 80 * kGiB);
  EXPECT_EQ(properties.major, 9);
  EXPECT_EQ(properties.minor, 0);
  EXPECT_EQ(properties.multiProcessorCount, 132);
  EXPECT_EQ(properties.maxThreadsPerMultiProcessor, 2048);
  EXPECT_EQ(properties.sharedMemPerBlock, 48u * 1024);
  EXPECT_EQ(properties.sharedMemPerBlockOptin, 227u * 1024);
  EXPECT_EQ(properties.maxThreadsDim[0], 1024);
  EXPECT_EQ(properties.maxGridSize[1], 65535);
  EXPECT_EQ(cudaGetDeviceProperties(&properties, 2), cudaErrorInvalidDevice);
}

TEST_F(Runtime, KeepsTheLastErrorOfEachThread) {
  EXPECT_EQ(cudaSetDevice(7), cudaErrorInvalidDevice);
  std::thread([] { EXPECT_EQ(cudaGetLastError(), cudaSuccess); }).join();
  int version = 0;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);  // clears nothing
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Runtime, NamesErrors) {
  EXPECT_STREQ(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(77)), "unrecognized error code");
}

TEST_F(Runtime, AllocatesFromTheDevicesCapacity) {
  const size_t before = free_bytes();
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 64 * kMiB), cudaSuccess);
  EXPECT_EQ(free_bytes(), before - 64 * kMiB);
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  EXPECT_EQ(free_bytes(), before);

  EXPECT_EQ(cudaMalloc(&memory, 81 * kGiB), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
}

TEST_F(Runtime, SaysWhatAPointerPointsTo) {
  void* device = nullptr;
  void* pinned = nullptr;
  int local = 0;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device, kMiB), cudaSuccess);
  ASSERT_EQ(cudaMallocHost(&pinned, kMiB), cudaSuccess);

  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, static_cast<char*>(device) + 100), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.hostPointer, pinned);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &local), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);

  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(pinned), cudaSuccess);
}

TEST_F(Runtime, ResetGivesAllMemoryBack) {
  const size_t before = free_bytes();
  void* memory = nullptr;
  ASSERT_EQ(cudaMalloc(&memory, 512 * kMiB), cudaSuccess);
  ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(free_bytes(), before);
}

TEST_F(Runtime, CopiesRectangles) {
  // Rows of 3 bytes, 4 apart in the source and pitched on the device.
  const std::array<unsigned char, 8> source = {1, 2, 3, 99, 4, 5, 6, 99};
  void* device = nullptr;
  size_t pitch = 0;
  ASSERT_EQ(cudaMallocPitch(&device, &pitch, 3, 2), cudaSuccess);
  ASSERT_GE(pitch, 3u);
  ASSERT_EQ(cudaMemcpy2D(device, pitch, source.data(), 4, 3, 2, cudaMemcpyHostToDevice),
            cudaSuccess);
  ASSERT_EQ(cudaMemset2D(static_cast<char*>(device) + 1, pitch, 7, 1, 2), cudaSuccess);
  std::array<unsigned char, 6> back{};
  ASSERT_EQ(cudaMemcpy2D(back.data(), 3, device, pitch, 3, 2, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, (std::array<unsigned char, 6>{1, 7, 3, 4, 7, 6}));
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(Runtime, CopiesBoxes) {
  cudaPitchedPtr device{};
  ASSERT_EQ(cudaMalloc3D(&device, {4, 2, 2}), cudaSuccess);
  EXPECT_EQ(device.xsize, 4u);
  EXPECT_EQ(device.ysize, 2u);
  std::array<unsigned char, 16> source{};
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<unsigned char>(i);

  cudaMemcpy3DParms up{};
  up.srcPtr = {source.data(), 4, 4, 2};
  up.dstPtr = device;
  up.extent = {4, 2, 2};
  up.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&up), cudaSuccess);

  // The second slice's last row, from its second byte on: bytes 13, 14, 15.
  std::array<unsigned char, 3> back{};
  cudaMemcpy3DParms down{};
  down.srcPtr = device;
  down.srcPos = {1, 1, 1};
  down.dstPtr = {back.data(), 3, 3, 1};
  down.extent = {3, 1, 1};
  down.kind = cudaMemcpyDeviceToHost;
  ASSERT_EQ(cudaMemcpy3D(&down), cudaSuccess);
  EXPECT_EQ(back, (std::array<unsigned char, 3>{13, 14, 15}));
  EXPECT_EQ(cudaFree(device.ptr), cudaSuccess);
}

TEST_F(Runtime, ArraysTakeCapacity) {
  const size_t before = free_bytes();
  const cudaChannelFormatDesc description =
      cudaCreateChannelDesc(32, 32, 0, 0, cudaChannelFormatKindFloat);
  cudaArray_t array = nullptr;
  ASSERT_EQ(cudaMallocArray(&array, &description, 4096, 1024), cudaSuccess);
  EXPECT_EQ(free_bytes(), before - 32 * kMiB);  // 8 bytes an element
  EXPECT_EQ(cudaFreeArray(array), cudaSuccess);
  EXPECT_EQ(free_bytes(), before);

  const cudaChannelFormatDesc no_format =
      cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindNone);
  EXPECT_EQ(cudaMallocArray(&array, &no_format, 1, 1), cudaErrorInvalidChannelDescriptor);
}

TEST_F(Runtime, StreamZeroIsTheThreadsOwnInThePerThreadFamily) {
  unsigned long long legacy = 0;
  unsigned long long per_thread = 0;
  unsigned long long by_handle = 0;
  unsigned long long other_thread = 0;
  ASSERT_EQ(cudaStreamGetId(nullptr, &legacy), cudaSuccess);
  ASSERT_EQ(cudaStreamGetId_ptsz(nullptr, &per_thread), cudaSuccess);
  ASSERT_EQ(cudaStreamGetId(cudaStreamPerThread, &by_handle), cudaSuccess);
  std::thread([&] { ASSERT_EQ(cudaStreamGetId_ptsz(nullptr, &other_thread), cudaSuccess); }).join();
  EXPECT_NE(per_thread, legacy);
  EXPECT_EQ(per_thread, by_handle);
  EXPECT_NE(per_thread, other_thread);

  // The legacy stream cannot be captured, the thread's own can.
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
            cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamBeginCapture_ptsz(nullptr, cudaStreamCaptureModeRelaxed), cudaSuccess);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(cudaStreamPerThread, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);

  void* device = nullptr;
  int value = 42;
  int back = 0;
  ASSERT_EQ(cudaMalloc(&device, sizeof value), cudaSuccess);
  EXPECT_EQ(cudaMemcpy_ptds(device, &value, sizeof value, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy_ptds(&back, device, sizeof back, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, 42);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(Runtime, CapturesAndReplaysASet) {
  cudaStream_t stream = nullptr;
  void* device = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&device, 4), cudaSuccess);
  ASSERT_EQ(cudaMemset(device, 0, 4), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(device, 0x11, 4, stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);

  size_t nodes = 0;
  ASSERT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 1u);
  unsigned value = 1;
  ASSERT_EQ(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 0u);

  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&value, device, 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 0x11111111u);

  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(Runtime, LaunchesAGraphOfHandMadeNodes) {
  char* device = nullptr;
  ASSERT_EQ(cudaMalloc(reinterpret_cast<void**>(&device), 8), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaMemsetParams fill{};
  fill.dst = device;
  fill.value = 3;
  fill.elementSize = 1;
  fill.width = 4;
  fill.height = 1;
  cudaGraphNode_t set = nullptr;
  cudaGraphNode_t copy = nullptr;
  ASSERT_EQ(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &fill), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, device + 4, device, 4,
                                     cudaMemcpyDeviceToDevice),
            cudaSuccess);
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::array<char, 8> back{};
  ASSERT_EQ(cudaMemcpy(back.data(), device, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, (std::array<char, 8>{3, 3, 3, 3, 3, 3, 3, 3}));
  EXPECT_EQ(cudaGraphExecDestroy(executable), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
}

TEST_F(Runtime, CopiesBetweenDevices) {
  std::array<void*, 2> memory{};
  for (int device : {1, 0}) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&memory[device], 4), cudaSuccess);
  }
  int value = 17;
  int back = 0;
  ASSERT_EQ(cudaMemcpy(memory[0], &value, 4, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyPeer(memory[1], 1, memory[0], 0, 4), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&back, memory[1], 4, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(back, 17);
  EXPECT_EQ(cudaMemcpyPeer(memory[1], 2, memory[0], 0, 4), cudaErrorInvalidDevice);
  for (void* address : memory) EXPECT_EQ(cudaFree(address), cudaSuccess);
}

TEST_F(Runtime, StreamOrderedMemoryComesFromThePool) {
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&pool, 0), cudaSuccess);
  void* memory = nullptr;
  ASSERT_EQ(cudaMallocAsync(&memory, 3 * kMiB, nullptr), cudaSuccess);
  unsigned long long used = 0;
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 3 * kMiB);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  ASSERT_EQ(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), cudaSuccess);
  EXPECT_EQ(used, 0u);
}

/// A program's embedded code, registered by hand as nvcc's generated code does it.
class EmbeddedCode {
 public:
  EmbeddedCode() : handle_(__cudaRegisterFatBinary(&image_)) {
    __cudaRegisterFunction(handle_, &kernel, &kernel, "kernel", -1, nullptr, nullptr, nullptr,
                           nullptr, nullptr);
    __cudaRegisterVar(handle_, &variable, &variable, "variable", 0, 16, 0, 1);
  }
  ~EmbeddedCode() { __cudaUnregisterFatBinary(handle_); }
  EmbeddedCode(const EmbeddedCode&) = delete;
  EmbeddedCode& operator=(const EmbeddedCode&) = delete;

  char kernel = 0;  // their addresses are the host symbols
  char variable = 0;

 private:
  long image_ = 0;
  void** handle_;
};

TEST_F(Runtime, LaunchesRegisteredKernels) {
  EmbeddedCode code;
  EXPECT_EQ(cudaLaunchKernel(&code.kernel, 1, 32, nullptr, 0, nullptr), cudaSuccess);
  EXPECT_EQ(cudaLaunchKernel(&code.kernel, 1, 1025, nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&code.kernel, dim3(1, 65536), 32, nullptr, 0, nullptr),
            cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(&code.kernel, 1, 32, nullptr, 227 * 1024 + 1, nullptr),
            cudaErrorInvalidConfiguration);
  const char unknown = 0;
  EXPECT_EQ(cudaLaunchKernel(&unknown, 1, 32, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);

  cudaFuncAttributes attributes;
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, &code.kernel), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 1024);
  int blocks = 0;
  ASSERT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, &code.kernel, 100, 0),
            cudaSuccess);
  EXPECT_EQ(blocks, 16);  // 100 threads are 4 warps: 2048 / 128
}

TEST_F(Runtime, ForgetsUnregisteredCode) {
  const void* symbol = nullptr;
  {
    EmbeddedCode code;
    symbol = &code.kernel;
    EXPECT_EQ(cudaLaunchKernel(symbol, 1, 1, nullptr, 0, nullptr), cudaSuccess);
  }
  EXPECT_EQ(cudaLaunchKernel(symbol, 1, 1, nullptr, 0, nullptr), cudaErrorInvalidDeviceFunction);
}

TEST_F(Runtime, CopiesToAndFromVariables) {
  EmbeddedCode code;
  size_t size_bytes = 0;
  ASSERT_EQ(cudaGetSymbolSize(&size_bytes, &code.variable), cudaSuccess);
  EXPECT_EQ(size_bytes, 16u);
  const int value = 1234;
  int back = 0;
  EXPECT_EQ(cudaMemcpyToSymbol(&code.variable, &value, 4, 12, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpyFromSymbol(&back, &code.variable, 4, 12, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(back, 1234);
  EXPECT_EQ(cudaMemcpyToSymbol(&code.variable, &value, 4, 13, cudaMemcpyHostToDevice),
            cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(&back, &value, 4, 0, cudaMemcpyHostToDevice),
            cudaErrorInvalidSymbol);
}

TEST_F(Runtime, PopsTheConfigurationThatWasPushedLast) {
  dim3 grid;
  dim3 block;
  size_t shared_bytes = 0;
  cudaStream_t stream = nullptr;
  __cudaPushCallConfiguration(dim3(2), dim3(3), 4, nullptr);
  __cudaPushCallConfiguration(dim3(5), dim3(6), 7, cudaStreamPerThread);
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 5u);
  EXPECT_EQ(block.x, 6u);
  EXPECT_EQ(shared_bytes, 7u);
  EXPECT_EQ(stream, cudaStreamPerThread);
  ASSERT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream), cudaSuccess);
  EXPECT_EQ(grid.x, 2u);
  EXPECT_EQ(__cudaPopCallConfiguration(&grid, &block, &shared_bytes, &stream),
            cudaErrorMissingConfiguration);
}

TEST_F(Runtime, NamesAnUnsupportedFunctionOnce) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(cudaDestroyTextureObject(0), cudaErrorNotSupported);
  EXPECT_EQ(cudaDestroyTextureObject(0), cudaErrorNotSupported);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "simgpu: cudaDestroyTextureObject is not supported by the simulated GPU (801)\n");
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

TEST_F(Runtime, HandsOutTheDriversFunctions) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status{};
  ASSERT_EQ(cudaGetDriverEntryPointByVersion("cuDeviceGetCount", &function, 12000,
                                             cudaEnableDefault, &status),
            cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  int devices = 0;
  EXPECT_EQ(reinterpret_cast<int (*)(int*)>(function)(&devices), 0);
  EXPECT_EQ(devices, 2);
}

}  // namespace
