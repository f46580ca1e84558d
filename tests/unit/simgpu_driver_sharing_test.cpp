// Memory that processes share through the built libcuda.so.1.
#include <fcntl.h>

#include <array>
#include <string>

#include "simgpu_two_processes.h"

namespace {

using Text = std::array<char, 12>;
constexpr Text kFirst = {"from A"};
constexpr Text kSecond = {"from B"};

#define FREE DRIVER_AS(cuMemFree, "cuMemFree_v2")
#define OPEN DRIVER_AS(cuIpcOpenMemHandle, "cuIpcOpenMemHandle_v2")
constexpr unsigned kOpenFlags = CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS;

CUdeviceptr allocate(size_t bytes) {
  CUdeviceptr address = 0;
  EXPECT_EQ(DRIVER_AS(cuMemAlloc, "cuMemAlloc_v2")(&address, bytes), CUDA_SUCCESS);
  return address;
}

void store(CUdeviceptr address, const Text& text) {
  EXPECT_EQ(DRIVER_AS(cuMemcpyHtoD, "cuMemcpyHtoD_v2")(address, text.data(), text.size()),
            CUDA_SUCCESS);
}

std::string load(CUdeviceptr address) {
  Text text{};
  EXPECT_EQ(DRIVER_AS(cuMemcpyDtoH, "cuMemcpyDtoH_v2")(text.data(), address, text.size()),
            CUDA_SUCCESS);
  return text.data();
}

CUipcMemHandle handle_of(CUdeviceptr address) {
  CUipcMemHandle handle{};
  EXPECT_EQ(DRIVER(cuIpcGetMemHandle)(&handle, address), CUDA_SUCCESS);
  return handle;
}

// Small, so that it shares its page with others.
TEST(LegacyIpc, BothSeeWhatTheOtherWrites) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        const CUdeviceptr before = allocate(512);
        const CUdeviceptr shared = allocate(512);
        const CUdeviceptr behind = allocate(512);
        store(before, {"before"});
        store(shared, kFirst);
        line.send(handle_of(shared));
        line.wait();
        EXPECT_EQ(load(shared), kSecond.data());
        EXPECT_EQ(load(before), "before");
        EXPECT_EQ(load(behind), "");
      },
      [](const Line& line) {
        use_device(0);
        const unsigned long long used = used_bytes();
        CUdeviceptr address = 0;
        ASSERT_EQ(OPEN(&address, line.receive<CUipcMemHandle>(), kOpenFlags), CUDA_SUCCESS);
        EXPECT_EQ(used_bytes(), used) << "it is the exporter's";
        EXPECT_EQ(load(address), kFirst.data());
        store(address, kSecond);
        line.signal();
        EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(address), CUDA_SUCCESS);
      });
}

TEST(LegacyIpc, AnAllocationHasOneHandleAndOneMapping) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        const CUdeviceptr shared = allocate(4 * kMiB);
        const CUipcMemHandle handle = handle_of(shared);
        const CUipcMemHandle inside = handle_of(shared + kMiB);
        EXPECT_EQ(std::memcmp(&handle, &inside, sizeof handle), 0) << "the base's";
        CUdeviceptr own = 0;
        EXPECT_EQ(OPEN(&own, handle, kOpenFlags), CUDA_ERROR_INVALID_CONTEXT);
        line.send(handle);
        line.wait();
      },
      [](const Line& line) {
        use_device(0);
        const CUipcMemHandle handle = line.receive<CUipcMemHandle>();
        CUdeviceptr first = 0;
        CUdeviceptr second = 0;
        ASSERT_EQ(OPEN(&first, handle, kOpenFlags), CUDA_SUCCESS);
        ASSERT_EQ(OPEN(&second, handle, kOpenFlags), CUDA_SUCCESS);
        EXPECT_EQ(first, second);
        CUdeviceptr begin = 0;
        size_t bytes = 0;
        EXPECT_EQ(
            DRIVER_AS(cuMemGetAddressRange, "cuMemGetAddressRange_v2")(&begin, &bytes, first + 100),
            CUDA_SUCCESS);
        EXPECT_EQ(begin, first);
        EXPECT_EQ(bytes, 4 * kMiB);
        EXPECT_EQ(FREE(first), CUDA_ERROR_INVALID_VALUE) << "it is closed, not freed";
        EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(first + 512), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(first), CUDA_SUCCESS);
        store(first, kFirst);
        EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(first), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(first), CUDA_ERROR_INVALID_VALUE);
        Text text{};
        EXPECT_EQ(DRIVER_AS(cuMemcpyDtoH, "cuMemcpyDtoH_v2")(text.data(), first, text.size()),
                  CUDA_ERROR_INVALID_VALUE);
        line.signal();
      });
}

TEST(LegacyIpc, RefusesWhatIsNoHandleOrIsGone) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        const CUdeviceptr freed = allocate(2 * kMiB);
        line.send(handle_of(freed));
        EXPECT_EQ(FREE(freed), CUDA_SUCCESS);
        const CUdeviceptr again = allocate(2 * kMiB);
        EXPECT_EQ(again, freed);
        line.send(handle_of(again));
        CUipcMemHandle handle{};
        EXPECT_EQ(DRIVER(cuIpcGetMemHandle)(&handle, again + 4 * kMiB), CUDA_ERROR_INVALID_VALUE);
        CUdeviceptr managed = 0;
        EXPECT_EQ(DRIVER(cuMemAllocManaged)(&managed, 512, CU_MEM_ATTACH_GLOBAL), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuIpcGetMemHandle)(&handle, managed), CUDA_ERROR_INVALID_VALUE);
        line.signal();
        line.wait();
        raise(SIGKILL);
      },
      [](const Line& line) {
        use_device(0);
        const auto freed = line.receive<CUipcMemHandle>();
        const auto valid = line.receive<CUipcMemHandle>();
        line.wait();
        EXPECT_NE(std::memcmp(&freed, &valid, sizeof freed), 0);
        CUdeviceptr address = 0;
        EXPECT_EQ(OPEN(&address, freed, kOpenFlags), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(OPEN(&address, CUipcMemHandle{}, kOpenFlags), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(OPEN(&address, valid, 0), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(address, 0u);
        line.signal();
        line.expect_end();
        EXPECT_EQ(OPEN(&address, valid, kOpenFlags), CUDA_ERROR_MAP_FAILED)
            << "its process is gone";
      });
}

TEST(LegacyIpc, MemoryOutlivesAKilledExporter) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        const CUdeviceptr shared = allocate(2 * kMiB);
        store(shared + kMiB, kFirst);
        line.send(handle_of(shared));
        line.wait();
        raise(SIGKILL);
      },
      [](const Line& line) {
        use_device(0);
        CUdeviceptr address = 0;
        ASSERT_EQ(OPEN(&address, line.receive<CUipcMemHandle>(), kOpenFlags), CUDA_SUCCESS);
        line.signal();
        line.expect_end();
        EXPECT_EQ(load(address + kMiB), kFirst.data());
        store(address + kMiB, kSecond);
        EXPECT_EQ(load(address + kMiB), kSecond.data());
        EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(address), CUDA_SUCCESS);
      });
}

// A scalar that the other process wrote counts; what a kernel of this one made of it does not.
TEST(LegacyIpc, ScalarsOfTheOtherProcessAreRead) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        const CUdeviceptr shared = allocate(512);
        line.send(handle_of(shared));
        line.wait();
        int value = 0;
        EXPECT_EQ(DRIVER_AS(cuMemcpyDtoH, "cuMemcpyDtoH_v2")(&value, shared, sizeof value),
                  CUDA_SUCCESS);
        EXPECT_EQ(value, 7);
      },
      [](const Line& line) {
        use_device(0);
        CUdeviceptr address = 0;
        ASSERT_EQ(OPEN(&address, line.receive<CUipcMemHandle>(), kOpenFlags), CUDA_SUCCESS);
        const int value = 7;
        EXPECT_EQ(DRIVER_AS(cuMemcpyHtoD, "cuMemcpyHtoD_v2")(address, &value, sizeof value),
                  CUDA_SUCCESS);
        line.signal();
      });
}

constexpr size_t kPhysicalBytes = 2 * kMiB;

CUmemGenericAllocationHandle create(CUmemAllocationHandleType type) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
  properties.requestedHandleTypes = type;
  CUmemGenericAllocationHandle handle = 0;
  EXPECT_EQ(DRIVER(cuMemCreate)(&handle, kPhysicalBytes, &properties, 0), CUDA_SUCCESS);
  return handle;
}

CUdeviceptr map(CUmemGenericAllocationHandle handle) {
  CUdeviceptr address = 0;
  EXPECT_EQ(DRIVER(cuMemAddressReserve)(&address, kPhysicalBytes, 0, 0, 0), CUDA_SUCCESS);
  EXPECT_EQ(DRIVER(cuMemMap)(address, kPhysicalBytes, 0, handle, 0), CUDA_SUCCESS);
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, {0}},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  EXPECT_EQ(DRIVER(cuMemSetAccess)(address, kPhysicalBytes, &access, 1), CUDA_SUCCESS);
  return address;
}

CUresult export_to(int* descriptor, CUmemGenericAllocationHandle handle) {
  return DRIVER(cuMemExportToShareableHandle)(descriptor, handle,
                                              CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

CUresult import_from(CUmemGenericAllocationHandle* handle, int descriptor) {
  return DRIVER(cuMemImportFromShareableHandle)(
      handle, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)),
      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
}

void unmap(CUdeviceptr address) {
  EXPECT_EQ(DRIVER(cuMemUnmap)(address, kPhysicalBytes), CUDA_SUCCESS);
}

TEST(ShareableHandles, MemoryLivesWhileAnyProcessRefersToIt) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        const unsigned long long used = used_bytes();
        const CUmemGenericAllocationHandle handle =
            create(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        const CUdeviceptr address = map(handle);
        store(address, kFirst);
        int descriptor = -1;
        ASSERT_EQ(export_to(&descriptor, handle), CUDA_SUCCESS);
        line.send_descriptor(descriptor);
        line.wait();
        EXPECT_EQ(load(address), kSecond.data());
        unmap(address);
        EXPECT_EQ(DRIVER(cuMemRelease)(handle), CUDA_SUCCESS);
        close(descriptor);
        EXPECT_EQ(used_bytes(), used + kPhysicalBytes) << "the importer has it";
        line.signal();
        line.wait();
        EXPECT_EQ(used_bytes(), used);
        line.signal();
      },
      [](const Line& line) {
        use_device(0);
        const unsigned long long used = used_bytes();
        const int descriptor = line.receive_descriptor();
        CUmemGenericAllocationHandle handle = 0;
        ASSERT_EQ(import_from(&handle, descriptor), CUDA_SUCCESS);
        close(descriptor);
        const CUdeviceptr address = map(handle);
        EXPECT_EQ(used_bytes(), used);
        EXPECT_EQ(load(address), kFirst.data());
        store(address, kSecond);
        line.signal();
        line.wait();
        EXPECT_EQ(load(address), kSecond.data());
        unmap(address);
        EXPECT_EQ(DRIVER(cuMemRelease)(handle), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuMemRelease)(handle), CUDA_ERROR_INVALID_VALUE);
        line.signal();
        line.wait();
      });
}

TEST(ShareableHandles, ADescriptorHoldsMemoryOfAProcessThatWasKilled) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        const CUmemGenericAllocationHandle handle =
            create(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
        store(map(handle), kFirst);
        int descriptor = -1;
        ASSERT_EQ(export_to(&descriptor, handle), CUDA_SUCCESS);
        line.send_descriptor(descriptor);
        line.wait();
        raise(SIGKILL);
      },
      [](const Line& line) {
        use_device(0);
        const int descriptor = line.receive_descriptor();
        line.signal();
        line.expect_end();
        CUmemGenericAllocationHandle handle = 0;
        ASSERT_EQ(import_from(&handle, descriptor), CUDA_SUCCESS);
        EXPECT_EQ(load(map(handle)), kFirst.data());
      });
}

TEST(ShareableHandles, InOneProcessTheyAreTheSameMemory) {
  in_child({}, [] {
    use_device(0);
    const unsigned long long used = used_bytes();
    const CUmemGenericAllocationHandle handle = create(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    const CUdeviceptr address = map(handle);
    store(address, kFirst);
    int descriptor = -1;
    ASSERT_EQ(export_to(&descriptor, handle), CUDA_SUCCESS);
    unmap(address);
    EXPECT_EQ(DRIVER(cuMemRelease)(handle), CUDA_SUCCESS);
    EXPECT_EQ(used_bytes(), used + kPhysicalBytes) << "the descriptor holds it";
    CUmemGenericAllocationHandle imported = 0;
    ASSERT_EQ(import_from(&imported, descriptor), CUDA_SUCCESS);
    close(descriptor);
    const CUdeviceptr again = map(imported);
    EXPECT_EQ(load(again), kFirst.data());
    unmap(again);
    EXPECT_EQ(DRIVER(cuMemRelease)(imported), CUDA_SUCCESS);
    EXPECT_EQ(used_bytes(), used);
  });
}

TEST(ShareableHandles, TwoMappingsShowTheSameBytes) {
  in_child({}, [] {
    use_device(0);
    const CUmemGenericAllocationHandle handle = create(CU_MEM_HANDLE_TYPE_NONE);
    const CUdeviceptr first = map(handle);
    store(first, kFirst);
    const CUdeviceptr second = map(handle);
    EXPECT_EQ(load(second), kFirst.data());
    store(second, kSecond);
    EXPECT_EQ(load(first), kSecond.data());
  });
}

TEST(ShareableHandles, RefusesWhatIsNotForIt) {
  in_child({}, [] {
    use_device(0);
    int descriptor = -1;
    EXPECT_EQ(export_to(&descriptor, create(CU_MEM_HANDLE_TYPE_NONE)), CUDA_ERROR_INVALID_VALUE);
    EXPECT_EQ(export_to(&descriptor, 12345), CUDA_ERROR_INVALID_VALUE);
    CUmemGenericAllocationHandle handle = 0;
    EXPECT_EQ(import_from(&handle, -1), CUDA_ERROR_INVALID_VALUE);
    const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(import_from(&handle, file), CUDA_ERROR_INVALID_VALUE);
    close(file);
    const CUmemGenericAllocationHandle exported = create(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    ASSERT_EQ(export_to(&descriptor, exported), CUDA_SUCCESS);
    ASSERT_NE(lseek(descriptor, 1, SEEK_CUR), -1);
    EXPECT_EQ(import_from(&handle, descriptor), CUDA_ERROR_INVALID_VALUE);
    ASSERT_NE(lseek(descriptor, 63, SEEK_CUR), -1);
    EXPECT_EQ(import_from(&handle, descriptor), CUDA_ERROR_INVALID_VALUE) << "another slot";
    EXPECT_EQ(handle, 0u);
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
    EXPECT_EQ(DRIVER(cuMemCreate)(&handle, kPhysicalBytes, &properties, 0),
              CUDA_ERROR_NOT_SUPPORTED);
  });
}

TEST(SharedPools, PointersAreImportedAndFreed) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        CUmemPoolProps properties{};
        properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
        properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {0}};
        CUmemoryPool pool = nullptr;
        ASSERT_EQ(DRIVER(cuMemPoolCreate)(&pool, &properties), CUDA_SUCCESS);
        CUdeviceptr address = 0;
        ASSERT_EQ(DRIVER(cuMemAllocFromPoolAsync)(&address, 4096, pool, nullptr), CUDA_SUCCESS);
        store(address, kFirst);
        CUmemPoolPtrExportData data{};
        EXPECT_EQ(DRIVER(cuMemPoolExportPointer)(&data, address), CUDA_ERROR_INVALID_VALUE)
            << "the pool first";
        int descriptor = -1;
        ASSERT_EQ(DRIVER(cuMemPoolExportToShareableHandle)(
                      &descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                  CUDA_SUCCESS);
        ASSERT_EQ(DRIVER(cuMemPoolExportPointer)(&data, address), CUDA_SUCCESS);
        line.send_descriptor(descriptor);
        line.send(data);
        line.wait();
        EXPECT_EQ(load(address), kSecond.data());
        EXPECT_EQ(DRIVER(cuMemFreeAsync)(address, nullptr), CUDA_SUCCESS);
      },
      [](const Line& line) {
        use_device(0);
        const int descriptor = line.receive_descriptor();
        auto data = line.receive<CUmemPoolPtrExportData>();
        CUmemoryPool pool = nullptr;
        ASSERT_EQ(DRIVER(cuMemPoolImportFromShareableHandle)(
                      &pool, reinterpret_cast<void*>(static_cast<intptr_t>(descriptor)),
                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
                  CUDA_SUCCESS);
        CUdeviceptr address = 0;
        EXPECT_EQ(DRIVER(cuMemAllocFromPoolAsync)(&address, 512, pool, nullptr),
                  CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(DRIVER(cuDeviceSetMemPool)(0, pool), CUDA_ERROR_INVALID_VALUE);
        ASSERT_EQ(DRIVER(cuMemPoolImportPointer)(&address, pool, &data), CUDA_SUCCESS);
        EXPECT_EQ(load(address), kFirst.data());
        store(address, kSecond);
        EXPECT_EQ(DRIVER(cuIpcCloseMemHandle)(address), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(DRIVER(cuMemFreeAsync)(address, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(FREE(address), CUDA_ERROR_INVALID_VALUE);
        CUmemoryPool own = nullptr;
        EXPECT_EQ(DRIVER(cuDeviceGetDefaultMemPool)(&own, 0), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuMemPoolImportPointer)(&address, own, &data), CUDA_ERROR_INVALID_VALUE);
        EXPECT_EQ(DRIVER(cuMemPoolDestroy)(pool), CUDA_SUCCESS);
        line.signal();
      });
}

#define DESTROY DRIVER_AS(cuEventDestroy, "cuEventDestroy_v2")

TEST(SharedEvents, AreRecordedAndWaitedForByBoth) {
  two_processes(
      [](const Line& line) {
        use_device(0);
        CUevent plain = nullptr;
        ASSERT_EQ(DRIVER(cuEventCreate)(&plain, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
        CUipcEventHandle handle{};
        EXPECT_EQ(DRIVER(cuIpcGetEventHandle)(&handle, plain), CUDA_ERROR_INVALID_HANDLE);
        CUevent event = nullptr;
        EXPECT_EQ(DRIVER(cuEventCreate)(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
        ASSERT_EQ(DRIVER(cuEventCreate)(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING),
                  CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuEventRecord)(event, nullptr), CUDA_SUCCESS);
        ASSERT_EQ(DRIVER(cuIpcGetEventHandle)(&handle, event), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_ERROR_NOT_READY)
            << "its own work takes 100 calls";
        CUevent own = nullptr;
        EXPECT_EQ(DRIVER(cuIpcOpenEventHandle)(&own, handle), CUDA_ERROR_INVALID_CONTEXT);
        line.send(handle);
        line.wait();
        EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_SUCCESS) << "the other one recorded it";
        EXPECT_EQ(DRIVER(cuEventRecord)(event, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_ERROR_NOT_READY);
        EXPECT_EQ(DRIVER(cuEventSynchronize)(event), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_SUCCESS);
        EXPECT_EQ(DESTROY(event), CUDA_SUCCESS);
        line.signal();
        line.wait();
      },
      [](const Line& line) {
        use_device(0);
        const auto handle = line.receive<CUipcEventHandle>();
        CUevent event = nullptr;
        ASSERT_EQ(DRIVER(cuIpcOpenEventHandle)(&event, handle), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuStreamWaitEvent)(nullptr, event, 0), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuEventSynchronize)(event), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuEventRecord)(event, nullptr), CUDA_SUCCESS);
        EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_ERROR_NOT_READY);
        CUipcEventHandle again{};
        EXPECT_EQ(DRIVER(cuIpcGetEventHandle)(&again, event), CUDA_ERROR_INVALID_HANDLE);
        line.signal();
        line.wait();
        EXPECT_EQ(DRIVER(cuEventQuery)(event), CUDA_SUCCESS) << "undefined, but no crash";
        EXPECT_EQ(DESTROY(event), CUDA_SUCCESS);
        CUevent late = nullptr;
        EXPECT_EQ(DRIVER(cuIpcOpenEventHandle)(&late, handle), CUDA_ERROR_INVALID_HANDLE);
        EXPECT_EQ(DRIVER(cuIpcOpenEventHandle)(&late, CUipcEventHandle{}),
                  CUDA_ERROR_INVALID_HANDLE);
        line.signal();
      },
      {{"VRAMSCOPE_SIM_LAG", "100"}});
}

}  // namespace
