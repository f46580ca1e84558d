// Totals by kind; the expected lines were worked out by hand from the calls above them.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/model_session_builder.h"
#include "tools/model/session_recording.h"

namespace vramscope {
namespace {

using Lines = std::vector<std::string>;

// "kind device peak_bytes/peak_count live_bytes/live_count"
Lines kinds_of(const Session& session) {
  Lines lines;
  const auto process = recording_of_session(session);
  EXPECT_EQ(process->repairs, 0u);
  for (const KindUse& use : process->kinds) {
    lines.push_back(std::string(memory_kind_name(use.kind)) + ' ' + std::to_string(use.device) +
                    ' ' + std::to_string(use.peak_bytes) + '/' + std::to_string(use.peak_count) +
                    ' ' + std::to_string(use.live_bytes) + '/' + std::to_string(use.live_count));
  }
  return lines;
}

class MemoryKinds : public testing::Test {
 protected:
  Event& call(RecordKind kind, uint64_t address, uint64_t size, uint64_t handle = 0,
              int device = 0) {
    Event& event = made_.add(kind, address, size, SessionBuilder::kFromProgram);
    event.handle = handle;
    event.device = static_cast<int8_t>(device);
    return event;
  }
  void expect(const Lines& lines) { EXPECT_EQ(kinds_of(made_.session), lines); }

  SessionBuilder made_;
};

TEST_F(MemoryKinds, LinearManagedAndStreamOrderedMemoryByDevice) {
  call(RecordKind::kDeviceAlloc, 0x1000, 100);
  call(RecordKind::kDeviceAlloc, 0x2000, 200, 0, 1);
  call(RecordKind::kManagedAlloc, 0x3000, 300);
  call(RecordKind::kAsyncAlloc, 0x4000, 400);
  call(RecordKind::kDeviceFree, 0x4000, 0, 0, kNoDevice);  // cuMemFree takes it too
  call(RecordKind::kAsyncFree, 0x1000, 0, 0, kNoDevice);
  call(RecordKind::kDeviceAlloc, 0, 1 << 30).result = 2;
  call(RecordKind::kDeviceFree, 0x2000, 0, 0, kNoDevice).result = 1;
  call(RecordKind::kDeviceFree, 0, 0, 0, kNoDevice);
  expect({"linear 0 100/1 0/0", "linear 1 200/1 200/1", "managed 0 300/1 300/1",
          "stream_ordered 0 400/1 0/0"});
}

TEST_F(MemoryKinds, PhysicalMemoryLivesWhileAHandleOrAMappingRefersToIt) {
  call(RecordKind::kAddressReserve, 0x100000, 8192, 0, kNoDevice);
  call(RecordKind::kPhysicalCreate, 0, 4096, 7);
  expect({"physical 0 4096/1 4096/1", "address_space -1 8192/1 8192/1"});
  call(RecordKind::kMap, 0x100000, 4096, 7, kNoDevice);
  call(RecordKind::kPhysicalRelease, 0, 0, 7, kNoDevice);
  call(RecordKind::kPhysicalCreate, 0, 4096, 7, 1);  // the handle's number is given again
  expect({"physical 0 4096/1 4096/1", "physical 1 4096/1 4096/1", "mapped 0 4096/1 4096/1",
          "address_space -1 8192/1 8192/1"});
  call(RecordKind::kUnmap, 0x100000, 4096, 0, kNoDevice);
  call(RecordKind::kAddressFree, 0x100000, 8192, 0, kNoDevice);
  expect({"physical 0 4096/1 0/0", "physical 1 4096/1 4096/1", "mapped 0 4096/1 0/0",
          "address_space -1 8192/1 0/0"});
}

TEST_F(MemoryKinds, RetainedAndTwiceMappedMemoryIsCountedOnce) {
  call(RecordKind::kAddressReserve, 0x100000, 8192, 0, kNoDevice);
  call(RecordKind::kPhysicalCreate, 0, 4096, 7);
  call(RecordKind::kMap, 0x100000, 4096, 7, kNoDevice);
  call(RecordKind::kMap, 0x101000, 4096, 7, kNoDevice);
  call(RecordKind::kPhysicalRetain, 0x101800, 0, 8, kNoDevice);
  call(RecordKind::kPhysicalRelease, 0, 0, 7, kNoDevice);
  call(RecordKind::kUnmap, 0x100000, 8192, 0, kNoDevice);
  expect({"physical 0 4096/1 4096/1", "mapped 0 8192/2 0/0", "address_space -1 8192/1 8192/1"});
  call(RecordKind::kPhysicalRelease, 0, 0, 8, kNoDevice);
  expect({"physical 0 4096/1 0/0", "mapped 0 8192/2 0/0", "address_space -1 8192/1 8192/1"});
  const auto process = recording_of_session(made_.session);
  ASSERT_EQ(process->devices.size(), 1u);
  // segment_map, alloc, free_requested, free_completed, segment_unmap: of the first mapping alone.
  EXPECT_EQ(process->devices[0].events.size(), 5u);
}

TEST_F(MemoryKinds, ImportedMemoryIsKeptApart) {
  call(RecordKind::kImport, 0x10000, 0);  // cuIpcOpenMemHandle
  call(RecordKind::kImportClose, 0x10000, 0, 0, kNoDevice);
  call(RecordKind::kImport, 0, 0, 7, kNoDevice);  // cuMemImportFromShareableHandle
  call(RecordKind::kMap, 0x100000, 4096, 7, kNoDevice);
  call(RecordKind::kPhysicalRelease, 0, 0, 7, kNoDevice);
  expect({"imported -1 4096/1 4096/1", "imported 0 0/1 0/0"});
  call(RecordKind::kUnmap, 0x100000, 4096, 0, kNoDevice);
  call(RecordKind::kImport, 0, 1 << 20, 8);             // cuImportExternalMemory
  call(RecordKind::kImport, 0x20000, 1 << 19, 8);       // cuExternalMemoryGetMappedBuffer
  call(RecordKind::kImport, 0, 0, 9, kNoDevice);        // cuMemPoolImportFromShareableHandle
  call(RecordKind::kImport, 0x30000, 0, 9, kNoDevice);  // cuMemPoolImportPointer
  expect({"imported -1 4096/2 0/2", "imported 0 1048576/2 1048576/2"});
  call(RecordKind::kDeviceFree, 0x20000, 0, 0, kNoDevice);
  call(RecordKind::kImportClose, 0, 0, 8, kNoDevice);
  call(RecordKind::kAsyncFree, 0x30000, 0, 0, kNoDevice);
  call(RecordKind::kPoolDestroy, 0, 0, 9, kNoDevice);
  expect({"imported -1 4096/2 0/0", "imported 0 1048576/2 0/0"});
  EXPECT_TRUE(recording_of_session(made_.session)->devices.empty());
}

TEST_F(MemoryKinds, MulticastObjectsAreNoMemory) {
  call(RecordKind::kMulticast, 0, 4096, 7, kNoDevice);
  call(RecordKind::kMulticast, 0, 0, 7, 1);
  call(RecordKind::kMap, 0x100000, 4096, 7, kNoDevice);
  call(RecordKind::kUnmap, 0x100000, 4096, 0, kNoDevice);
  call(RecordKind::kPhysicalRelease, 0, 0, 7, kNoDevice);
  expect({});
}

TEST_F(MemoryKinds, GraphNodesUntilTheirAddressIsFreed) {
  call(RecordKind::kGraphMemory, 0x10000, 4096, 5);
  call(RecordKind::kGraphMemory, 0x20000, 8192, 5);
  call(RecordKind::kGraphMemory, 0x10000, 0, 5, kNoDevice);
  call(RecordKind::kDeviceFree, 0x20000, 0, 0, kNoDevice);
  call(RecordKind::kGraphMemory, 0, 0);  // cuDeviceGraphMemTrim
  expect({"graph_node 0 12288/2 0/0"});
}

TEST_F(MemoryKinds, ContextsAreRetainedAndReleased) {
  call(RecordKind::kContextCreate, 0, 0, 0xc0);
  call(RecordKind::kContextCreate, 0, 0, 0xc0);  // cuDevicePrimaryCtxRetain once more
  call(RecordKind::kContextCreate, 0, 0, 0xc1, 1);
  call(RecordKind::kContextCreate, 0, 0, 0, 1).result = 101;
  call(RecordKind::kContextDestroy, 0, 0, 0xc0);
  call(RecordKind::kModuleLoad, 0, 0, 0xd0);
  expect({"context 0 0/1 0/1", "context 1 0/1 0/1", "module 0 0/1 0/1"});
  call(RecordKind::kContextDestroy, 0, 0, 0xc0);
  call(RecordKind::kModuleUnload, 0, 0, 0xd0);
  expect({"context 0 0/1 0/0", "context 1 0/1 0/1", "module 0 0/1 0/0"});
}

TEST_F(MemoryKinds, HostMemoryAndArrays) {
  call(RecordKind::kHostAlloc, 0x500000, 1000, 0, kNoDevice);
  call(RecordKind::kHostAlloc, 0x600000, 500, 0, kNoDevice);
  call(RecordKind::kHostFree, 0x500000, 0, 0, kNoDevice);
  call(RecordKind::kHostRegister, 0x700000, 300, 0, kNoDevice);
  call(RecordKind::kHostUnregister, 0x700000, 0, 0, kNoDevice);
  call(RecordKind::kArrayCreate, 0, 2048, 0xa0, 1);
  expect({"array 1 2048/1 2048/1", "pinned_host -1 1500/2 500/1", "registered_host -1 300/1 0/0"});
}

}  // namespace
}  // namespace vramscope
