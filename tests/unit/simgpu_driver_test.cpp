// The built libcuda.so.1, loaded as programs load it. Every case runs in a child process of its
// own: the environment is read once a process, and cuInit cannot be undone.
#include <cuda.h>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr unsigned long long kMiB = 1ull << 20;

void* library() {
  static void* handle = dlopen(SIMGPU_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

template <typename Function>
Function* symbol(const char* name) {
  return reinterpret_cast<Function*>(dlsym(library(), name));
}

// One exported function, looked up under its exported name.
#define DRIVER(name) (*symbol<decltype(name)>(#name))

// The same for functions whose cuda.h name is a macro for a later variant.
#define DRIVER_AS(type, exported) (*symbol<decltype(type)>(exported))

struct Environment {
  const char* name;
  const char* value;
};

// Runs `body` in a child with the environment set; the child's failed expectations fail the test.
template <typename Body>
void in_child(const std::vector<Environment>& environment, Body body) {
  std::fflush(nullptr);  // or the child writes it again
  const pid_t child = fork();
  if (child == 0) {
    for (const Environment& variable : environment) setenv(variable.name, variable.value, 1);
    EXPECT_NE(library(), nullptr) << dlerror();
    if (!testing::Test::HasFailure()) body();
    std::fflush(nullptr);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "child's status " << status;
}

void use_device(CUdevice device) {
  ASSERT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
  CUcontext context = nullptr;
  ASSERT_EQ(DRIVER(cuDevicePrimaryCtxRetain)(&context, device), CUDA_SUCCESS);
  ASSERT_EQ(DRIVER(cuCtxSetCurrent)(context), CUDA_SUCCESS);
}

CUfunction kernel(const char* name) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  EXPECT_EQ(DRIVER(cuModuleLoadData)(&module, "image"), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuModuleGetFunction)(&function, module, name), CUDA_SUCCESS);
  return function;
}

CUresult launch(CUfunction function, CUstream stream, void** arguments) {
  return DRIVER(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, stream, arguments, nullptr);
}

unsigned long long used_bytes() {
  size_t free = 0;
  size_t total = 0;
  EXPECT_EQ(DRIVER_AS(cuMemGetInfo, "cuMemGetInfo_v2")(&free, &total), CUDA_SUCCESS);
  return total - free;
}

std::string temporary_path(const std::string& name) {
  const std::string path = testing::TempDir() + name + "." + std::to_string(getpid());
  std::filesystem::remove(path);
  return path;
}

// The log without its first two columns (pid, tid).
std::vector<std::string> log_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line.substr(line.find('\t', line.find('\t') + 1) + 1));
  }
  return lines;
}

std::string hex(unsigned long long number) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%llx", number);
  return text;
}

TEST(SimgpuDriver, AnswersNotInitializedBeforeCuInit) {
  in_child({}, [] {
    CUdeviceptr address = 0;
    int count = -1;
    EXPECT_EQ(DRIVER(cuDeviceGetCount)(&count), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&address, 1), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(0), CUDA_ERROR_NOT_INITIALIZED);
    int version = 0;
    EXPECT_EQ(DRIVER(cuDriverGetVersion)(&version), CUDA_SUCCESS);
    EXPECT_EQ(version, 13020);
    const char* name = nullptr;
    EXPECT_EQ(DRIVER(cuGetErrorName)(CUDA_ERROR_OUT_OF_MEMORY, &name), CUDA_SUCCESS);
    EXPECT_STREQ(name, "CUDA_ERROR_OUT_OF_MEMORY");
  });
}

TEST(SimgpuDriver, DevicesFollowTheProfile) {
  in_child({{"VRAMSCOPE_SIM_GPU", "t4x3"}, {"CUDA_VISIBLE_DEVICES", "2,0"}}, [] {
    use_device(0);
    int value = 0;
    DRIVER(cuDeviceGetCount)(&value);
    EXPECT_EQ(value, 2);
    DRIVER(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    EXPECT_EQ(value, 40);
    DRIVER(cuDeviceGetAttribute)(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1);
    EXPECT_EQ(value, 7);
    char text[32];
    DRIVER(cuDeviceGetPCIBusId)(text, sizeof text, 0);
    EXPECT_STREQ(text, "0000:03:00.0");
    EXPECT_EQ(used_bytes(), 512 * kMiB) << "the context";
  });
}

TEST(SimgpuDriver, VisibleDevicesCanBeUuids) {
  in_child({{"VRAMSCOPE_SIM_COUNT", "4"}, {"CUDA_VISIBLE_DEVICES", "GPU-03,1,7,0"}}, [] {
    use_device(0);
    int count = 0;
    DRIVER(cuDeviceGetCount)(&count);
    EXPECT_EQ(count, 2) << "the list ends at the first entry that is no board";
    CUuuid uuid;
    DRIVER_AS(cuDeviceGetUuid, "cuDeviceGetUuid_v2")(&uuid, 0);
    EXPECT_EQ(uuid.bytes[0], 3);
  });
}

TEST(SimgpuDriver, NoVisibleDeviceIsAnError) {
  in_child({{"CUDA_VISIBLE_DEVICES", ""}},
           [] { EXPECT_EQ(DRIVER(cuInit)(0), CUDA_ERROR_NO_DEVICE); });
}

TEST(SimgpuDriver, RefusesWhatExceedsTheCapacity) {
  in_child({{"VRAMSCOPE_SIM_GPU", "64MiB"}}, [] {
    use_device(0);
    CUdeviceptr address = 0;
    auto& allocate = DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2");
    EXPECT_EQ(allocate(&address, 65 * kMiB), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(allocate(&address, 64 * kMiB), CUDA_SUCCESS);
    EXPECT_EQ(used_bytes(), 64 * kMiB);
    EXPECT_EQ(DRIVER_AS(cuMemFree, "cuMemFree_v2")(address), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER_AS(cuMemFree, "cuMemFree_v2")(address), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(used_bytes(), 0u);
  });
}

TEST(SimgpuDriver, LogsEveryMemoryCallOnce) {
  const std::string path = temporary_path("simgpu_log");
  in_child({{"VRAMSCOPE_SIM_GPU", "1GiB"}, {"VRAMSCOPE_SIM_LOG", path.c_str()}}, [&] {
    use_device(0);
    CUcontext context = nullptr;
    DRIVER(cuCtxGetCurrent)(&context);
    CUdeviceptr linear = 0;
    CUdeviceptr pitched = 0;
    CUdeviceptr pooled = 0;
    CUmemoryPool pool = nullptr;
    size_t pitch = 0;
    void* host = nullptr;
    auto* stream = reinterpret_cast<CUstream>(1);
    DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&linear, 1000);
    DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&pooled, 2048 * kMiB);
    DRIVER_AS(cuMemAllocPitch, "cuMemAllocPitch_v2")(&pitched, &pitch, 100, 7, 4);
    DRIVER_AS(cuMemFree, "cuMemFree_v2")(linear);
    DRIVER_AS(cuMemFree, "cuMemFree_v2")(0x1234);
    DRIVER_AS(cuMemAllocHost, "cuMemAllocHost_v2")(&host, 300);
    DRIVER(cuMemFreeHost)(host);
    DRIVER(cuDeviceGetDefaultMemPool)(&pool, 0);
    DRIVER_AS(cuMemAllocAsync, "cuMemAllocAsync_ptsz")(&pooled, 77, stream);
    DRIVER(cuMemFreeAsync)(pooled, stream);
    DRIVER(cuIpcCloseMemHandle)(0);
    CUdeviceptr old_address = 0;
    DRIVER_AS(cuMemAlloc, "cuMemAlloc")(&old_address, 4);
    const std::vector<std::string> expected = {
        "api\tresult\tdevice\taddress\tsize\tstream\thandle",
        "cuDevicePrimaryCtxRetain\t0\t0\t0x0\t0\t0x0\t" + hex(reinterpret_cast<uintptr_t>(context)),
        "cuMemAlloc\t0\t0\t" + hex(linear) + "\t1000\t0x0\t0x0",
        "cuMemAlloc\t2\t0\t0x0\t2147483648\t0x0\t0x0",
        "cuMemAllocPitch\t0\t0\t" + hex(pitched) + "\t3584\t0x0\t0x0",
        "cuMemFree\t0\t0\t" + hex(linear) + "\t0\t0x0\t0x0",
        "cuMemFree\t1\t-1\t0x1234\t0\t0x0\t0x0",
        "cuMemAllocHost\t0\t-1\t" + hex(reinterpret_cast<uintptr_t>(host)) + "\t300\t0x0\t0x0",
        "cuMemFreeHost\t0\t-1\t" + hex(reinterpret_cast<uintptr_t>(host)) + "\t0\t0x0\t0x0",
        "cuDeviceGetDefaultMemPool\t0\t0\t0x0\t0\t0x0\t" + hex(reinterpret_cast<uintptr_t>(pool)),
        "cuMemAllocAsync\t0\t0\t" + hex(pooled) + "\t77\t0x1\t0x0",
        "cuMemFreeAsync\t0\t0\t" + hex(pooled) + "\t0\t0x1\t0x0",
        "cuIpcCloseMemHandle\t801\t-1\t0x0\t0\t0x0\t0x0",
        "cuMemAlloc\t801\t-1\t0x0\t0\t0x0\t0x0",
    };
    EXPECT_EQ(log_lines(path), expected);
  });
  std::filesystem::remove(path);
}

TEST(SimgpuDriver, WorkCompletesAfterTheLag) {
  in_child({{"VRAMSCOPE_SIM_LAG", "3"}}, [] {
    use_device(0);
    CUevent event = nullptr;
    DRIVER(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING);
    DRIVER(cuEventRecord)(event, nullptr);
    EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_SUCCESS) << "the third call after the record";
    DRIVER(cuEventRecord)(event, nullptr);
    EXPECT_EQ(DRIVER(cuEventSynchronize)(event), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_SUCCESS);
  });
}

TEST(SimgpuDriver, ASpinKernelKeepsItsStreamBusy) {
  in_child({}, [] {
    use_device(0);
    CUstream busy = nullptr;
    CUstream other = nullptr;
    CUevent start = nullptr;
    CUevent end = nullptr;
    DRIVER(cuStreamCreate)(&busy, CU_STREAM_NON_BLOCKING);
    DRIVER(cuStreamCreate)(&other, CU_STREAM_NON_BLOCKING);
    DRIVER(cuEventCreate)(&start, CU_EVENT_DEFAULT);
    DRIVER(cuEventCreate)(&end, CU_EVENT_DEFAULT);
    const CUfunction spin = kernel("_ZN2at4cuda11spin_kernelEl");
    int64_t cycles = 1'980'000;  // a millisecond at the H100's 1.98 GHz
    void* arguments[] = {&cycles};
    DRIVER(cuEventRecord)(start, busy);
    EXPECT_EQ(launch(spin, busy, arguments), CUDA_SUCCESS);
    DRIVER(cuEventRecord)(end, busy);
    EXPECT_EQ(DRIVER(cuStreamQuery)(busy), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(DRIVER(cuStreamQuery)(other), CUDA_SUCCESS);
    float milliseconds = 0;
    auto& elapsed = DRIVER_AS(cuEventElapsedTime, "cuEventElapsedTime_v2");
    EXPECT_EQ(elapsed(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
    DRIVER(cuStreamWaitEvent)(other, end, 0);
    EXPECT_EQ(DRIVER(cuStreamQuery)(other), CUDA_ERROR_NOT_READY) << "it waits for the busy one";
    EXPECT_EQ(DRIVER(cuStreamSynchronize)(other), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuStreamQuery)(busy), CUDA_SUCCESS);
    EXPECT_EQ(elapsed(&milliseconds, start, end), CUDA_SUCCESS);
    // 100 ticks of the kernel, and one from the record to the launch.
    EXPECT_FLOAT_EQ(milliseconds, 1.01f);
  });
}

TEST(SimgpuDriver, PollingEndsASpin) {
  in_child({}, [] {
    use_device(0);
    int64_t cycles = 1'980'000;
    void* arguments[] = {&cycles};
    launch(kernel("spin_kernel"), nullptr, arguments);
    int polls = 1;
    while (DRIVER(cuStreamQuery)(nullptr) == CUDA_ERROR_NOT_READY) ++polls;
    EXPECT_EQ(polls, 100) << "a millisecond is 100 calls of 10 microseconds";
  });
}

TEST(SimgpuDriver, ElapsedTimeAcrossDevicesIsAnError) {
  in_child({{"VRAMSCOPE_SIM_COUNT", "2"}}, [] {
    CUevent events[2] = {};
    for (int device = 0; device < 2; ++device) {
      use_device(device);
      DRIVER(cuEventCreate)(&events[device], CU_EVENT_DEFAULT);
      DRIVER(cuEventRecord)(events[device], nullptr);
    }
    float milliseconds = 0;
    EXPECT_EQ(
        DRIVER_AS(cuEventElapsedTime, "cuEventElapsedTime_v2")(&milliseconds, events[0], events[1]),
        CUDA_ERROR_INVALID_HANDLE);
  });
}

TEST(SimgpuDriver, AForkedChildOfAUserOfTheGpuIsRefused) {
  in_child({}, [] {
    use_device(0);
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      int count = 0;
      const bool refused = DRIVER(cuDeviceGetCount)(&count) == CUDA_ERROR_NOT_INITIALIZED &&
                           DRIVER(cuInit)(0) == CUDA_ERROR_NOT_INITIALIZED;
      _exit(refused ? 0 : 1);
    }
    int status = 1;
    waitpid(grandchild, &status, 0);
    EXPECT_EQ(status, 0);
    int count = 0;
    EXPECT_EQ(DRIVER(cuDeviceGetCount)(&count), CUDA_SUCCESS) << "the parent goes on";
  });
}

TEST(SimgpuDriver, ResolvesVariantsByVersionAndFlags) {
  in_child({}, [] {
    auto& resolve = DRIVER_AS(cuGetProcAddress, "cuGetProcAddress_v2");
    const auto resolved = [&](const char* name, int version, cuuint64_t flags) {
      void* function = nullptr;
      CUdriverProcAddressQueryResult found;
      EXPECT_EQ(resolve(name, &function, version, flags, &found), CUDA_SUCCESS);
      return function;
    };
    const auto exported = [](const char* name) { return dlsym(library(), name); };
    EXPECT_EQ(resolved("cuMemAlloc", 3020, 0), exported("cuMemAlloc_v2"));
    EXPECT_EQ(resolved("cuMemAlloc", 2000, 0), exported("cuMemAlloc"));
    EXPECT_EQ(resolved("cuMemAllocAsync", 12090, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM),
              exported("cuMemAllocAsync_ptsz"));
    EXPECT_EQ(resolved("cuCtxCreate", 11040, 0), exported("cuCtxCreate_v3"));
    EXPECT_EQ(resolved("cuNoSuchThing", 13000, 0), nullptr);
    EXPECT_EQ(resolved("", 13000, 0), nullptr);
    EXPECT_EQ(resolve("cuMemFree", nullptr, 13000, 0, nullptr), CUDA_SUCCESS) << "tolerates null";
  });
}

TEST(SimgpuDriver, TheDefaultStreamOfAThreadIsItsOwn) {
  in_child({}, [] {
    use_device(0);
    int64_t cycles = 19'800'000;
    void* arguments[] = {&cycles};
    const CUfunction spin = kernel("spin_kernel");
    DRIVER_AS(cuLaunchKernel, "cuLaunchKernel_ptsz")
    (spin, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr);
    auto& query = DRIVER_AS(cuStreamQuery, "cuStreamQuery_ptsz");
    EXPECT_EQ(query(nullptr), CUDA_ERROR_NOT_READY);
    CUcontext context = nullptr;
    DRIVER(cuCtxGetCurrent)(&context);
    std::thread([&] {
      DRIVER(cuCtxSetCurrent)(context);
      EXPECT_EQ(query(nullptr), CUDA_SUCCESS);
    }).join();
    EXPECT_EQ(DRIVER(cuStreamQuery)(nullptr), CUDA_ERROR_NOT_READY)
        << "the legacy stream waits for it";
  });
}

TEST(SimgpuDriver, ACapturedGraphReplaysItsCopies) {
  in_child({}, [] {
    use_device(0);
    CUstream stream = nullptr;
    DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING);
    CUdeviceptr device = 0;
    DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&device, 64);
    int sent = 5;
    int received = 0;
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    DRIVER_AS(cuStreamBeginCapture, "cuStreamBeginCapture_v2")
    (stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    DRIVER_AS(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2")(device, &sent, 4, stream);
    DRIVER_AS(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2")(&received, device, 4, stream);
    EXPECT_EQ(DRIVER(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
    EXPECT_EQ(received, 0) << "captured, not done";
    EXPECT_EQ(DRIVER(cuGraphInstantiateWithFlags)(&executable, graph, 0), CUDA_SUCCESS);
    sent = 6;
    EXPECT_EQ(DRIVER(cuGraphLaunch)(executable, stream), CUDA_SUCCESS);
    EXPECT_EQ(received, 6);
    EXPECT_EQ(DRIVER(cuGraphExecDestroy)(executable), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuGraphDestroy)(graph), CUDA_SUCCESS);
    EXPECT_EQ(DRIVER(cuGraphDestroy)(graph), CUDA_ERROR_INVALID_VALUE);
  });
}

TEST(SimgpuDriver, AGraphPrintsItself) {
  const std::string path = temporary_path("simgpu_graph");
  in_child({}, [&] {
    use_device(0);
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    DRIVER(cuGraphCreate)(&graph, 0);
    DRIVER(cuGraphAddEmptyNode)(&node, graph, nullptr, 0);
    EXPECT_EQ(DRIVER(cuGraphDebugDotPrint)(graph, path.c_str(), 0), CUDA_SUCCESS);
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    EXPECT_EQ(line, "  node_1 [label=\"EMPTY\"];");
    EXPECT_EQ(DRIVER(cuGraphDebugDotPrint)(graph, "/no/such/folder/graph.dot", 0),
              CUDA_ERROR_OPERATING_SYSTEM);
  });
  std::filesystem::remove(path);
}

TEST(SimgpuDriver, AContextOfTheProgramsOwnCostsAsMuch) {
  in_child({{"VRAMSCOPE_SIM_CONTEXT", "100MiB"}}, [] {
    use_device(0);
    CUcontext primary = nullptr;
    CUcontext own = nullptr;
    CUcontext current = nullptr;
    DRIVER(cuCtxGetCurrent)(&primary);
    EXPECT_EQ(used_bytes(), 100 * kMiB);
    EXPECT_EQ(DRIVER_AS(cuCtxCreate, "cuCtxCreate_v4")(&own, nullptr, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(used_bytes(), 200 * kMiB);
    DRIVER(cuCtxGetCurrent)(&current);
    EXPECT_EQ(current, own);
    EXPECT_EQ(DRIVER_AS(cuCtxDestroy, "cuCtxDestroy_v2")(own), CUDA_SUCCESS);
    DRIVER(cuCtxGetCurrent)(&current);
    EXPECT_EQ(current, primary);
    EXPECT_EQ(used_bytes(), 100 * kMiB);
    EXPECT_EQ(DRIVER(cuCtxSetCurrent)(own), CUDA_ERROR_INVALID_CONTEXT) << "it is dead";
  });
}

TEST(SimgpuDriver, NamesAnUnsupportedCallOnce) {
  in_child({}, [] {
    use_device(0);
    testing::internal::CaptureStderr();
    EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(0), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "simgpu: cuIpcCloseMemHandle is not supported by the simulated GPU (801)\n");
  });
}

TEST(SimgpuDriver, SaysWhyAProgramWithItsOwnRuntimeCannotRun) {
  in_child({}, [] {
    const void* table = nullptr;
    const CUuuid id = {};
    testing::internal::CaptureStderr();
    EXPECT_EQ(DRIVER(cuGetExportTable)(&table, &id), CUDA_ERROR_NOT_FOUND);
    const std::string text = testing::internal::GetCapturedStderr();
    EXPECT_NE(text.find("simgpu_driver_test: contains NVIDIA's own CUDA runtime"),
              std::string::npos)
        << text;
  });
}

TEST(SimgpuDriver, SaysWhichValueOfTheEnvironmentIsWrong) {
  in_child(
      {{"VRAMSCOPE_SIM_GPU", "h999"},
       {"VRAMSCOPE_SIM_LAG", "-1"},
       {"VRAMSCOPE_SIM_CONTEXT", "1TiB"}},
      [] {
        testing::internal::CaptureStderr();
        use_device(0);
        const std::string text = testing::internal::GetCapturedStderr();
        EXPECT_NE(text.find("simgpu: VRAMSCOPE_SIM_GPU=h999: 'h999' is not a GPU"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("simgpu: VRAMSCOPE_SIM_LAG=-1: not a number of driver calls"),
                  std::string::npos)
            << text;
        EXPECT_NE(text.find("simgpu: VRAMSCOPE_SIM_CONTEXT=1TiB: not a size"), std::string::npos)
            << text;
        EXPECT_EQ(used_bytes(), 512 * kMiB) << "an H100 all the same";
      });
}

TEST(SimgpuDriver, ArraysTakeCapacity) {
  in_child({{"VRAMSCOPE_SIM_GPU", "64MiB"}}, [] {
    use_device(0);
    CUDA_ARRAY_DESCRIPTOR description = {1024, 1024, CU_AD_FORMAT_FLOAT, 4};
    CUarray array = nullptr;
    auto& create = DRIVER_AS(cuArrayCreate, "cuArrayCreate_v2");
    EXPECT_EQ(create(&array, &description), CUDA_SUCCESS);
    EXPECT_EQ(used_bytes(), 16 * kMiB);
    CUarray more[4] = {};
    for (int i = 0; i < 3; ++i) EXPECT_EQ(create(&more[i], &description), CUDA_SUCCESS);
    EXPECT_EQ(create(&more[3], &description), CUDA_ERROR_OUT_OF_MEMORY);
    EXPECT_EQ(DRIVER(cuArrayDestroy)(array), CUDA_SUCCESS);
    EXPECT_EQ(used_bytes(), 48 * kMiB);
  });
}

}  // namespace
