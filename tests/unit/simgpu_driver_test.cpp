#include "tests/unit/simgpu_driver_support.h"

namespace {

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

TEST(SimgpuDriver, NamesAnUnsupportedCallOnce) {
  in_child({}, [] {
    use_device(0);
    testing::internal::CaptureStderr();
    EXPECT_EQ(DRIVER(cuMemMapArrayAsync)(nullptr, 0, nullptr), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(DRIVER(cuMemMapArrayAsync)(nullptr, 0, nullptr), CUDA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(testing::internal::GetCapturedStderr(),
              "simgpu: cuMemMapArrayAsync is not supported by the simulated GPU (801)\n");
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

TEST(SimgpuDriver, HasNoNewerFunctionsForCupti) {
  in_child({}, [] {
    const CUuuid id = {{'\x7c', '\xb6', '\x3f', '\x9b', '\x9c', '\xa4', '\x8e', '\x42', '\xa4',
                        '\x84', '\xbe', '\xb6', '\x6e', '\x6a', '\xed', '\x7f'}};
    const void* table = nullptr;
    ASSERT_EQ(DRIVER(cuGetExportTable)(&table, &id), CUDA_SUCCESS);
    EXPECT_EQ(*static_cast<const size_t*>(table), sizeof(size_t)) << "its size, and nothing else";
    EXPECT_EQ(DRIVER(cuGetExportTable)(nullptr, &id), CUDA_ERROR_INVALID_VALUE);
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

}  // namespace
