#include <fstream>
#include <thread>

#include "tests/unit/simgpu_driver_support.h"

namespace {

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

TEST(SimgpuDriverStream, WorkCompletesAfterTheLag) {
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

TEST(SimgpuDriverStream, AProfilersQuestionTakesNoTime) {
  in_child({{"VRAMSCOPE_SIM_LAG", "2"}}, [] {
    use_device(0);
    CUevent event = nullptr;
    CUdevice device = -1;
    DRIVER(cuEventCreate)(&event, CU_EVENT_DISABLE_TIMING);
    DRIVER(cuEventRecord)(event, nullptr);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(DRIVER(cuCtxGetDevice)(&device), CUDA_SUCCESS);
    EXPECT_EQ(device, 0);
    EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_ERROR_NOT_READY);
    EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_SUCCESS);
  });
}

TEST(SimgpuDriverStream, ASpinKernelKeepsItsStreamBusy) {
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

TEST(SimgpuDriverStream, PollingEndsASpin) {
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

TEST(SimgpuDriverStream, ElapsedTimeAcrossDevicesIsAnError) {
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

TEST(SimgpuDriverStream, TheDefaultStreamOfAThreadIsItsOwn) {
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

TEST(SimgpuDriverStream, ACapturedGraphReplaysItsCopies) {
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

TEST(SimgpuDriverStream, AGraphPrintsItself) {
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

}  // namespace
