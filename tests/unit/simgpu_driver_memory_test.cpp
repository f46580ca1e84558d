#include <fcntl.h>
#include <unistd.h>

#include <fstream>

#include "tests/unit/simgpu_driver_support.h"

namespace {

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

TEST(SimgpuDriverMemory, RefusesWhatExceedsTheCapacity) {
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

TEST(SimgpuDriverMemory, LogGoesOnInItsOwnFileAfterAllDescriptorsWereClosed) {
  const std::string path = temporary_path("simgpu_log");
  const std::string other = temporary_path("simgpu_other");
  in_child({{"VRAMSCOPE_SIM_GPU", "1GiB"}, {"VRAMSCOPE_SIM_LOG", path.c_str()}}, [&] {
    use_device(0);
    close_range(3, ~0U, 0);
    for (int number = 3; number < 20; number = open(other.c_str(), O_RDWR | O_CREAT, 0644)) {
    }
    CUdeviceptr address = 0;
    EXPECT_EQ(DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&address, 1000), CUDA_SUCCESS);
    EXPECT_EQ(log_lines(path).size(), 3u);  // heading, context, allocation
    EXPECT_EQ(std::filesystem::file_size(other), 0u);
  });
}

TEST(SimgpuDriverMemory, LogsEveryMemoryCallOnce) {
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
    DRIVER(cuMemMapArrayAsync)(nullptr, 0, nullptr);
    CUdeviceptr old_address = 0;
    DRIVER_AS(cuMemAlloc, "cuMemAlloc")(&old_address, 4);
    const std::vector<std::string> expected = {
        "api\tresult\tdevice\taddress\tsize\tstream\thandle",
        "cuDevicePrimaryCtxRetain\t0\t0\t0x0\t0\t0x0\t" + hex(reinterpret_cast<uintptr_t>(context)),
        "cuMemAlloc\t0\t0\t" + hex(linear) + "\t1000\t0x0\t0x0",
        "cuMemAlloc\t2\t0\t0x0\t2147483648\t0x0\t0x0",
        "cuMemAllocPitch\t0\t0\t" + hex(pitched) + "\t3584\t0x0\t0x0",
        "cuMemFree\t0\t-1\t" + hex(linear) + "\t0\t0x0\t0x0",
        "cuMemFree\t1\t-1\t0x1234\t0\t0x0\t0x0",
        "cuMemAllocHost\t0\t-1\t" + hex(reinterpret_cast<uintptr_t>(host)) + "\t300\t0x0\t0x0",
        "cuMemFreeHost\t0\t-1\t" + hex(reinterpret_cast<uintptr_t>(host)) + "\t0\t0x0\t0x0",
        "cuDeviceGetDefaultMemPool\t0\t0\t0x0\t0\t0x0\t" + hex(reinterpret_cast<uintptr_t>(pool)),
        "cuMemAllocAsync\t0\t0\t" + hex(pooled) + "\t77\t0x1\t0x0",
        "cuMemFreeAsync\t0\t-1\t" + hex(pooled) + "\t0\t0x1\t0x0",
        "cuIpcCloseMemHandle\t1\t-1\t0x0\t0\t0x0\t0x0",
        "cuMemMapArrayAsync\t801\t-1\t0x0\t0\t0x0\t0x0",
        "cuMemAlloc\t801\t-1\t0x0\t0\t0x0\t0x0",
    };
    EXPECT_EQ(log_lines(path), expected);
  });
  std::filesystem::remove(path);
}

TEST(SimgpuDriverMemory, LogsWhatIsRefusedBeforeInitAndAfterFork) {
  const std::string path = temporary_path("simgpu_log");
  in_child({{"VRAMSCOPE_SIM_LOG", path.c_str()}}, [&] {
    CUdeviceptr address = 0;
    auto& allocate = DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2");
    EXPECT_EQ(allocate(&address, 1000), CUDA_ERROR_NOT_INITIALIZED);
    EXPECT_EQ(DRIVER(cuCtxSynchronize)(), CUDA_ERROR_NOT_INITIALIZED) << "not a memory call";
    EXPECT_EQ(DRIVER(cuInit)(0), CUDA_SUCCESS);
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(DRIVER(cuMemFreeHost)(&address));
    int status = 0;
    waitpid(grandchild, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), CUDA_ERROR_NOT_INITIALIZED);
    const std::vector<std::string> expected = {
        "api\tresult\tdevice\taddress\tsize\tstream\thandle",
        "cuMemAlloc\t3\t-1\t0x0\t0\t0x0\t0x0",
        "cuMemFreeHost\t3\t-1\t0x0\t0\t0x0\t0x0",
    };
    EXPECT_EQ(log_lines(path), expected);
  });
  std::filesystem::remove(path);
}

TEST(SimgpuDriverMemory, ArraysTakeCapacity) {
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

TEST(SimgpuDriverMemory, AContextOfTheProgramsOwnCostsAsMuch) {
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

}  // namespace
