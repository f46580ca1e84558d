// The wrappers of the core against a driver, a PyTorch and a recorder of the test's own.
#include <gtest/gtest.h>

#include <cerrno>
#include <set>
#include <vector>

#include "preload/hooks/array_size.h"
#include "tests/unit/preload_support.h"

namespace vramscope {
namespace {

CUmemLocation location(CUmemLocationType type, int id) {
  CUmemLocation result = {};
  result.type = type;
  result.id = id;
  return result;
}

class PreloadHooks : public testing::Test {
 protected:
  void SetUp() override {
    attached_wrappers();
    recorded.clear();
    current_device_ordinal = 0;
  }

  static const Event& only_event() {
    EXPECT_EQ(recorded.size(), 1u);
    return recorded.at(0).event;
  }
};

TEST_F(PreloadHooks, EveryRowHasItsOwnWrapperButResolvers) {
  std::set<void*> distinct;
  for (uint32_t row = 0; row < kApiCount; ++row) {
    void* wrapper = attached_wrappers()[row];
    if (kApiFamilies[row] == Family::kResolver) {
      EXPECT_EQ(wrapper, nullptr) << kApiNames[row];
    } else {
      EXPECT_NE(wrapper, nullptr) << kApiNames[row];
      EXPECT_TRUE(distinct.insert(wrapper).second) << kApiNames[row];
    }
  }
}

TEST_F(PreloadHooks, RefusesAShimOfAnotherTable) {
  void* wrappers[kApiCount] = {};
  ShimServices other = kShim;
  other.table_id = kHookTableId + 1;
  EXPECT_NE(vramscope_core_attach(&other, wrappers), 0);
  other = kShim;
  other.row_count = kApiCount + 1;
  EXPECT_NE(vramscope_core_attach(&other, wrappers), 0);
  EXPECT_EQ(wrappers[static_cast<uint32_t>(Api::cuMemAlloc_v2)], nullptr);
}

TEST_F(PreloadHooks, RecordsAnAllocationAfterItsCall) {
  static uint64_t ticks_in_driver;
  set_real<Api::cuMemAlloc_v2>([](CUdeviceptr* address, size_t bytes) {
    EXPECT_EQ(bytes, 1234u);
    ticks_in_driver = clock_ticks;
    *address = kAddress;
    errno = ENOENT;
    return CUDA_SUCCESS;
  });
  current_device_ordinal = 3;
  CUdeviceptr address = 0;
  EXPECT_EQ(call<Api::cuMemAlloc_v2>(&address, size_t{1234}), CUDA_SUCCESS);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(address, kAddress);
  const Event& event = only_event();
  EXPECT_EQ(event.kind, RecordKind::kDeviceAlloc);
  EXPECT_STREQ(kApiNames[event.api], "cuMemAlloc_v2");
  EXPECT_EQ(event.result, 0);
  EXPECT_EQ(event.device, 3);
  EXPECT_EQ(event.address, kAddress);
  EXPECT_EQ(event.size, 1234u);
  EXPECT_EQ(event.stream, 0u);
  EXPECT_EQ(event.handle, 0u);
  EXPECT_EQ(event.ticks, ticks_in_driver + 1);
}

TEST_F(PreloadHooks, RecordsAFreeBeforeItsCall) {
  static uint64_t ticks_in_driver;
  set_real<Api::cuMemFree_v2>([](CUdeviceptr address) {
    EXPECT_EQ(address, kAddress);
    ticks_in_driver = clock_ticks;
    return CUDA_SUCCESS;
  });
  EXPECT_EQ(call<Api::cuMemFree_v2>(kAddress), CUDA_SUCCESS);
  const Event& event = only_event();
  EXPECT_EQ(event.kind, RecordKind::kDeviceFree);
  EXPECT_EQ(event.address, kAddress);
  EXPECT_EQ(event.device, kNoDevice);
  EXPECT_EQ(event.ticks, ticks_in_driver);
}

TEST_F(PreloadHooks, AFailedCallHasItsArgumentsAndNoOutputs) {
  set_real<Api::cuMemAlloc_v2>([](CUdeviceptr*, size_t) { return CUDA_ERROR_OUT_OF_MEMORY; });
  CUdeviceptr address = 0xdead;
  EXPECT_EQ(call<Api::cuMemAlloc_v2>(&address, size_t{1} << 40), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(address, 0xdeadu);
  EXPECT_EQ(only_event().result, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(only_event().address, 0u);
  EXPECT_EQ(only_event().size, uint64_t{1} << 40);
}

TEST_F(PreloadHooks, NeverReadsPointersThatTheDriverRefused) {
  set_real<Api::cuMemAlloc_v2>([](CUdeviceptr*, size_t) { return CUDA_SUCCESS; });
  EXPECT_EQ(call<Api::cuMemAlloc_v2>(nullptr, size_t{1}), CUDA_SUCCESS);
  EXPECT_EQ(only_event().address, 0u);

  set_real<Api::cuMemCreate>([](CUmemGenericAllocationHandle*, size_t, const CUmemAllocationProp*,
                                unsigned long long) { return CUDA_ERROR_INVALID_VALUE; });
  auto* nowhere = handle<CUmemAllocationProp*>(16);
  EXPECT_EQ(call<Api::cuMemCreate>(nullptr, size_t{1}, nowhere, 0ull), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(recorded.at(1).event.device, kNoDevice);
}

TEST_F(PreloadHooks, NoContextMeansNoDevice) {
  current_device_ordinal = -1;
  set_real<Api::cuMemAlloc_v2>([](CUdeviceptr*, size_t) { return CUDA_ERROR_INVALID_CONTEXT; });
  CUdeviceptr address = 0;
  call<Api::cuMemAlloc_v2>(&address, size_t{1});
  EXPECT_EQ(only_event().device, kNoDevice);
}

TEST_F(PreloadHooks, OldVariantsHave32BitAddresses) {
  set_real<Api::cuMemAlloc>([](CUdeviceptr_v1* address, unsigned bytes) {
    EXPECT_EQ(bytes, 77u);
    *address = 0xf0000000u;
    return CUDA_SUCCESS;
  });
  struct {
    CUdeviceptr_v1 address = 0;
    CUdeviceptr_v1 neighbour = 0x12345678;
  } words;
  EXPECT_EQ(call<Api::cuMemAlloc>(&words.address, 77u), CUDA_SUCCESS);
  EXPECT_EQ(words.neighbour, 0x12345678u);
  EXPECT_EQ(only_event().address, 0xf0000000u);
}

TEST_F(PreloadHooks, StreamOrderedMemoryIsOnTheStreamsDevice) {
  set_real<Api::cuMemAllocAsync>([](CUdeviceptr*, size_t, CUstream) { return CUDA_SUCCESS; });
  current_device_ordinal = 3;
  CUdeviceptr address = 0;
  for (const uintptr_t stream : {uintptr_t{0}, uintptr_t{2}, kKnownStream})
    call<Api::cuMemAllocAsync>(&address, size_t{64}, handle<CUstream>(stream));
  ASSERT_EQ(recorded.size(), 3u);
  EXPECT_EQ(recorded[0].event.device, 3);
  EXPECT_EQ(recorded[1].event.device, 3);
  EXPECT_EQ(recorded[2].event.device, kDeviceOfKnownStream);
}

TEST_F(PreloadHooks, MemoryOfAPoolBelongsToThePoolsDevice) {
  set_real<Api::cuMemPoolCreate>([](CUmemoryPool* pool, const CUmemPoolProps*) {
    *pool = handle<CUmemoryPool>(0x7f1234567890);
    return CUDA_SUCCESS;
  });
  set_real<Api::cuMemAllocFromPoolAsync>(
      [](CUdeviceptr*, size_t, CUmemoryPool, CUstream) { return CUDA_SUCCESS; });
  CUmemPoolProps properties = {};
  properties.location = location(CU_MEM_LOCATION_TYPE_DEVICE, 7);
  CUmemoryPool pool = nullptr;
  CUdeviceptr address = 0;
  call<Api::cuMemPoolCreate>(&pool, &properties);
  for (const CUmemoryPool from : {pool, handle<CUmemoryPool>(0x7f1234567898)})
    call<Api::cuMemAllocFromPoolAsync>(&address, size_t{64}, from, CUstream{nullptr});
  ASSERT_EQ(recorded.size(), 3u);
  EXPECT_EQ(recorded[0].event.device, 7);
  EXPECT_EQ(recorded[1].event.device, 7);
  EXPECT_EQ(recorded[2].event.device, 0);  // not known: the current one
}

TEST_F(PreloadHooks, PhysicalMemoryBelongsToItsLocation) {
  set_real<Api::cuMemCreate>([](CUmemGenericAllocationHandle* memory, size_t,
                                const CUmemAllocationProp*, unsigned long long) {
    *memory = 0x1111;
    return CUDA_SUCCESS;
  });
  CUmemAllocationProp properties = {};
  CUmemGenericAllocationHandle memory = 0;
  properties.location = location(CU_MEM_LOCATION_TYPE_DEVICE, 5);
  call<Api::cuMemCreate>(&memory, size_t{2} << 20, &properties, 0ull);
  properties.location = location(CU_MEM_LOCATION_TYPE_HOST_NUMA, 1);
  call<Api::cuMemCreate>(&memory, size_t{2} << 20, &properties, 0ull);
  ASSERT_EQ(recorded.size(), 2u);
  EXPECT_EQ(recorded[0].event.device, 5);
  EXPECT_EQ(recorded[0].event.handle, 0x1111u);
  EXPECT_EQ(recorded[0].event.size, 2097152u);
  EXPECT_EQ(recorded[1].event.device, kNoDevice);
}

TEST_F(PreloadHooks, ReleaseOfAPrimaryContextNamesIt) {
  set_real<Api::cuDevicePrimaryCtxRetain>([](CUcontext* context, CUdevice) {
    *context = handle<CUcontext>(0xc000);
    return CUDA_SUCCESS;
  });
  set_real<Api::cuDevicePrimaryCtxRelease_v2>([](CUdevice) { return CUDA_SUCCESS; });
  CUcontext context = nullptr;
  call<Api::cuDevicePrimaryCtxRetain>(&context, 6);
  call<Api::cuDevicePrimaryCtxRelease_v2>(6);
  ASSERT_EQ(recorded.size(), 2u);
  for (const Recorded& each : recorded) {
    EXPECT_EQ(each.event.device, 6);
    EXPECT_EQ(each.event.handle, 0xc000u);
  }
  EXPECT_EQ(recorded[0].event.kind, RecordKind::kContextCreate);
  EXPECT_EQ(recorded[1].event.kind, RecordKind::kContextDestroy);
}

TEST_F(PreloadHooks, AllEightArgumentsArrive) {
  set_real<Api::cuLibraryLoadData>([](CUlibrary* library, const void* code, CUjit_option* options,
                                      void** option_values, unsigned option_count,
                                      CUlibraryOption* library_options, void** library_values,
                                      unsigned library_option_count) {
    const bool arrived = code == handle<void*>(2) && options == handle<CUjit_option*>(3) &&
                         option_values == handle<void**>(4) && option_count == 5 &&
                         library_options == handle<CUlibraryOption*>(6) &&
                         library_values == handle<void**>(7) && library_option_count == 8;
    *library = handle<CUlibrary>(0x11b);
    return arrived ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
  CUlibrary library = nullptr;
  EXPECT_EQ(call<Api::cuLibraryLoadData>(&library, handle<const void*>(2), handle<CUjit_option*>(3),
                                         handle<void**>(4), 5u, handle<CUlibraryOption*>(6),
                                         handle<void**>(7), 8u),
            CUDA_SUCCESS);
  EXPECT_EQ(only_event().handle, 0x11bu);
}

TEST_F(PreloadHooks, GraphNodesCountOnlyIfTheyAreMemory) {
  set_real<Api::cuGraphAddNode_v2>([](CUgraphNode*, CUgraph, const CUgraphNode*,
                                      const CUgraphEdgeData*, size_t, CUgraphNodeParams* node) {
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC) node->alloc.dptr = kAddress;
    return CUDA_SUCCESS;
  });
  CUgraphNode node = nullptr;
  CUgraphNodeParams parameters = {};
  const auto add = [&] {
    call<Api::cuGraphAddNode_v2>(&node, handle<CUgraph>(0x66), nullptr, nullptr, size_t{0},
                                 &parameters);
  };
  parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
  add();
  EXPECT_TRUE(recorded.empty());
  parameters.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
  parameters.alloc.bytesize = 4096;
  parameters.alloc.poolProps.location = location(CU_MEM_LOCATION_TYPE_DEVICE, 1);
  add();
  const Event& event = only_event();
  EXPECT_EQ(event.kind, RecordKind::kGraphMemory);
  EXPECT_EQ(event.handle, 0x66u);
  EXPECT_EQ(event.address, kAddress);
  EXPECT_EQ(event.size, 4096u);
  EXPECT_EQ(event.device, 1);
}

TEST_F(PreloadHooks, CallsInsideADriverCallAreForwardedOnly) {
  static int allocations = 0;
  set_real<Api::cuMemAlloc_v2>([](CUdeviceptr* address, size_t) {
    ++allocations;
    *address = kAddress;
    return CUDA_SUCCESS;
  });
  set_real<Api::cuModuleLoadData>([](CUmodule* module, const void*) {
    *module = handle<CUmodule>(0x40d);
    CUdeviceptr globals = 0;
    return call<Api::cuMemAlloc_v2>(&globals, size_t{256});
  });
  CUmodule module = nullptr;
  EXPECT_EQ(call<Api::cuModuleLoadData>(&module, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(allocations, 1);
  EXPECT_EQ(only_event().kind, RecordKind::kModuleLoad);
  EXPECT_EQ(*depth(), 0);
}

// Calls the wrapper as a program would; a frame of its own, so that the call site can be checked.
[[gnu::noinline]] void* free_from_here() {
  call<Api::cuMemFree_v2>(kAddress);
  return __builtin_frame_address(0);
}

TEST_F(PreloadHooks, TheCallSiteIsTheCallers) {
  set_real<Api::cuMemFree_v2>([](CUdeviceptr) { return CUDA_SUCCESS; });
  const auto frame = reinterpret_cast<uintptr_t>(free_from_here());
  const auto begin = reinterpret_cast<uintptr_t>(&free_from_here);
  const CallSite& site = recorded.at(0).site;
  EXPECT_GT(site.program_counter, begin);
  EXPECT_LT(site.program_counter, begin + 256);
  EXPECT_EQ(site.frame_pointer, frame);
  EXPECT_LE(site.stack_pointer, frame);
  EXPECT_GT(site.stack_pointer, frame - 256);
}

using ReportUsage = void(void*, int64_t, size_t, size_t, uint16_t device);
using ReportOutOfMemory = void(int64_t, size_t, size_t, uint16_t device);
constexpr auto kUsageRow =
    static_cast<uint32_t>(Api::_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE);
constexpr auto kOutOfMemoryRow =
    static_cast<uint32_t>(Api::_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE);
constexpr uint16_t kCuda1 = 0x0101;  // c10::Device: type in the low byte, index above it
constexpr uint16_t kCpu = 0xff00;

std::vector<int64_t> reported_sizes;
uint64_t ticks_in_report;

void real_usage(void*, int64_t size, size_t, size_t, uint16_t) {
  reported_sizes.push_back(size);
  ticks_in_report = clock_ticks;
}

void report_usage(int64_t size, uint16_t device) {
  real_functions[kUsageRow] = reinterpret_cast<void*>(real_usage);
  reported_sizes.clear();
  reinterpret_cast<ReportUsage*>(attached_wrappers()[kUsageRow])(handle<void*>(0xb10c), size, 7000,
                                                                 9000, device);
}

TEST_F(PreloadHooks, BlocksAreAllocatedAfterTheReport) {
  report_usage(512, kCuda1);
  EXPECT_EQ(reported_sizes, std::vector<int64_t>{512});
  const Event& event = only_event();
  EXPECT_EQ(event.kind, RecordKind::kBlockAlloc);
  EXPECT_EQ(event.device, 1);
  EXPECT_EQ(event.address, 0xb10cu);
  EXPECT_EQ(event.size, 512u);
  EXPECT_EQ(event.handle, 0u);  // no allocator is here to tell the request
  EXPECT_EQ(event.extra, 9000u);
  EXPECT_EQ(event.stream, 0x5029u);  // 0x5000 + 40 + device 1
  EXPECT_EQ(event.ticks, ticks_in_report + 1);
}

TEST_F(PreloadHooks, BlocksAreFreedBeforeTheReport) {
  report_usage(-512, kCuda1);
  EXPECT_EQ(reported_sizes, std::vector<int64_t>{-512});
  EXPECT_EQ(only_event().kind, RecordKind::kBlockFree);
  EXPECT_EQ(only_event().size, 512u);
  EXPECT_EQ(only_event().handle, 7000u);
  EXPECT_EQ(only_event().ticks, ticks_in_report);
}

TEST_F(PreloadHooks, CpuMemoryOfPyTorchIsPassedOn) {
  report_usage(512, kCpu);
  EXPECT_EQ(reported_sizes, std::vector<int64_t>{512});
  EXPECT_TRUE(recorded.empty());
}

TEST_F(PreloadHooks, OutOfMemoryHasTheRequest) {
  static int64_t reported = 0;
  real_functions[kOutOfMemoryRow] =
      reinterpret_cast<void*>(+[](int64_t size, size_t, size_t, uint16_t) { reported = size; });
  reinterpret_cast<ReportOutOfMemory*>(attached_wrappers()[kOutOfMemoryRow])(1 << 30, 7000, 9000,
                                                                             kCuda1);
  EXPECT_EQ(reported, 1 << 30);
  EXPECT_EQ(only_event().kind, RecordKind::kBlockOom);
  EXPECT_EQ(only_event().size, uint64_t{1} << 30);
  EXPECT_EQ(only_event().address, 0u);
  EXPECT_EQ(only_event().extra, 9000u);
}

constexpr auto kScopeRow = static_cast<uint32_t>(Api::_ZN2at16getStepCallbacksENS_11RecordScopeE);

// PyTorch's function returns an object through a hidden pointer.
struct Callbacks {
  explicit Callbacks(int value) : scope(value) {}
  ~Callbacks() {}  // NOLINT: not trivial, so that it is returned as PyTorch's is
  int scope;
  char more[100] = {};
};
enum class RecordScope : uint8_t { kFunction = 0, kUserScope = 7 };

Callbacks real_step_callbacks(RecordScope scope) { return Callbacks(static_cast<int>(scope)); }

TEST_F(PreloadHooks, ScopesThatPythonEntersAreRecordedAndNoOthers) {
  real_functions[kScopeRow] = reinterpret_cast<void*>(real_step_callbacks);
  auto* hooked = reinterpret_cast<Callbacks (*)(RecordScope)>(attached_wrappers()[kScopeRow]);
  scope_ticks.clear();
  errno = 0;
  EXPECT_EQ(hooked(RecordScope::kFunction).scope, 0);
  EXPECT_TRUE(scope_ticks.empty());
  EXPECT_EQ(hooked(RecordScope::kUserScope).scope, 7);
  EXPECT_EQ(scope_ticks, std::vector<uint64_t>{clock_ticks});
  EXPECT_EQ(errno, 0);
}

TEST(PreloadArraySize, CountsTexels) {
  CUDA_ARRAY3D_DESCRIPTOR description = {};
  description.Width = 10;
  description.Height = 6;
  description.Depth = 3;
  description.Format = CU_AD_FORMAT_FLOAT;
  description.NumChannels = 2;
  EXPECT_EQ(array_bytes(description), 1440u);  // 10 * 6 * 3 texels of 8 bytes
  // Levels: 10*6*3, 5*3*1, 2*1*1, 1*1*1 texels.
  EXPECT_EQ(mipmapped_array_bytes(description, 0), 1440u);
  EXPECT_EQ(mipmapped_array_bytes(description, 3), 1576u);
  EXPECT_EQ(mipmapped_array_bytes(description, 99), 1584u);
  description.Flags = CUDA_ARRAY3D_LAYERED;  // 10*6*3, 5*3*3
  EXPECT_EQ(mipmapped_array_bytes(description, 2), 1800u);
  description.Format = CU_AD_FORMAT_BC1_UNORM;
  EXPECT_EQ(array_bytes(description), 0u);  // unknown
}

}  // namespace
}  // namespace vramscope
